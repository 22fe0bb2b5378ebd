// Imports everything that the program and its tests use from JSR, so that the
// task `_std_flags` can check whether it is cached, and download it.

import "@std/assert";
import "@std/http/status";
import "@std/log/base-handler";
import "@std/log/logger";
