import { follow } from "./session.ts";

follow("limits");
