// Runs the program, which SIGUSR1 makes fail in a way that nothing catches: by an
// error or, with --no-debug, a rejected promise.

const isRejected = Deno.args.includes("--no-debug");

Deno.addSignalListener("SIGUSR1", () => {
  const error = new TypeError("Unforeseen");
  if (!isRejected) throw error;
  Promise.reject(error);
});

await import("../../main.ts");
