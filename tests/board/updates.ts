import { follow } from "./session.ts";

follow("updates");
