import { follow } from "./session.ts";

follow("several");
