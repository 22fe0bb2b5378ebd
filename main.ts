import { runProgram } from "./src/program.ts";

// Exit explicitly: a pending read of standard input would keep the program
// running (https://github.com/denoland/deno/issues/14333)
Deno.exit(await runProgram(Deno.args));
