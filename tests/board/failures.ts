import { follow } from "./session.ts";

follow("failures");
