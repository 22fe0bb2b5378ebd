// HEAD over HTTP/2, where Deno.serve would send a body. requests_test.ts sends it over
// HTTP/1.

import { assertEquals } from "@std/assert";
import { needs } from "../helpers/needs.ts";
import { output } from "../helpers/process.ts";
import { Program } from "../helpers/program.ts";

Deno.test(
  "the program answers HEAD over HTTP/2 with the status and the length of GET, and without a body",
  needs({ commands: ["curl"] }),
  async () => {
    await using program = await Program.start();
    const request = async (flag: string) => {
      const args = ["--http2-prior-knowledge", flag, program.url];
      const { code, stdout } = await output("curl", args);
      const [head = "", body] = stdout.split("\r\n\r\n");
      return [code, head.match(/^(HTTP|content-).*/gm)?.sort(), body];
    };
    const [code, fields, body] = await request("-si");
    assertEquals([code, body], [0, '"Sensor data"']);
    assertEquals(await request("-sI"), [0, fields, ""]);
  },
);
