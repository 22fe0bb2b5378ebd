import { follow } from "./session.ts";

follow("sensors");
