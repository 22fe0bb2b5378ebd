// Runs the program, and something goes wrong that nobody foresaw: an error, or
// with --no-debug a promise that is rejected.

const isRejected = Deno.args.includes("--no-debug");

AbortSignal.timeout(200).onabort = () => {
  const error = new TypeError("Nobody foresaw this");
  if (!isRejected) throw error;
  Promise.reject(error);
};

await import("../../main.ts");
