// How many files the program may open.

const UNIT = "src/board/package/usr/lib/systemd/system/datasensor.service";

/** How many files the unit allows the program to open, and a command for that. */
export const OPEN_FILES = Number(
  (await Deno.readTextFile(UNIT)).match(/LimitNOFILE=(\d+)/)![1],
);
const LIMIT = `ulimit -n ${OPEN_FILES}; exec "$@"`;
export const WITH_OPEN_FILES = ["sh", "-c", LIMIT, "sh"];
