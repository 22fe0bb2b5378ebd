import { follow } from "./session.ts";

follow("install", []);
