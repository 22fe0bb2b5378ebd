import { follow } from "./session.ts";

follow("journal");
