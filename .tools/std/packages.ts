/**
 * Imports all that the program and its tests take from JSR, for the task `std`
 * to see whether it is cached, and to download it.
 *
 * @module
 */

import "@std/assert";
import "@std/http/status";
import "@std/log/base-handler";
import "@std/log/logger";
