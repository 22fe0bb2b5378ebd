// deno-lint-ignore-file no-console -- it prints to the console by design

// Prints how many test files run at once: those of DENO_JOBS, or two more than there are
// processors, since tests wait for programs and deadlines more than they compute.

console.log(Deno.env.get("DENO_JOBS") ?? navigator.hardwareConcurrency + 2);
