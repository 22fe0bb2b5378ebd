// HEAD, whose body Deno.serve omits over HTTP/1 only.

import { assertEquals } from "@std/assert";
import { needs } from "../helpers/needs.ts";
import { output } from "../helpers/process.ts";
import { Program } from "../helpers/program.ts";

Deno.test(
  "the program answers HEAD with the status and the length of GET, and without a body",
  needs({ commands: ["curl"] }),
  async () => {
    await using program = await Program.start();
    for (const version of ["--http1.1", "--http2-prior-knowledge"]) {
      const request = async (flag: string) => {
        const args = [version, flag, program.url];
        const { code, stdout } = await output("curl", args);
        const [head = "", body] = stdout.split("\r\n\r\n");
        return [code, head.match(/^(HTTP|content-).*/gm)?.sort(), body];
      };
      const [code, fields, body] = await request("-si");
      assertEquals([code, body], [0, '"Sensor data"']);
      assertEquals(await request("-sI"), [0, fields, ""]);
    }
  },
);
