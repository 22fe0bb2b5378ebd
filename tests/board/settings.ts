import { follow } from "./session.ts";

follow("settings");
