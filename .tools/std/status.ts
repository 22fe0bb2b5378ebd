// Declares types for the status texts of npm's deno-std that the service uses.

import * as std from "deno-std/http/status.js";

type Status = 400 | 404 | 405 | 500 | 503;

export const STATUS_TEXT: Readonly<Record<Status, string>> = std.STATUS_TEXT;
