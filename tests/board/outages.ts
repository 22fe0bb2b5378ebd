import { follow } from "./session.ts";

follow("outages");
