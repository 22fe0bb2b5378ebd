// How each request is answered: the status, the body and, in ask(), all header fields.

import { assertEquals, assertMatch } from "@std/assert";
import { PAGE } from "../../src/page/page.ts";
import { Service } from "./service.ts";

const NOT_FOUND =
  "404 The only resource is /datasensor: /metrics, /sensors, /history and / need --stdin";
const READ_ONLY = "405 The resource is read-only: use GET, HEAD or OPTIONS";
const BAD_HOST = "400 The host of the request is invalid";

const FOUND = ["/datasensor", "/datasensor?/../%", "/%64%61%74%61sensor?x=%"];
const MISSING =
  `/ /?/datasensor /Datasensor //datasensor /datasensor/ /datasensor%3Fx=1
/%64atasensor%zz /%2564atasensor /metrics /sensors /history`.split(/\s/);

for (const flags of ["", " --cors"]) {
  Deno.test(`the fixed text has one resource${flags && " with"}${flags}`, async () => {
    const service = new Service(`--message=21.5°C${flags}`);
    for (const target of FOUND) {
      assertEquals(await service.ask(target), '200 "21.5°C"');
      assertEquals(await service.ask(target, "OPTIONS"), "204");
      assertEquals(await service.ask(target, "POST"), READ_ONLY);
      assertEquals(await service.ask(target, "BREW"), READ_ONLY);
    }
    for (const method of ["GET", "POST", "OPTIONS"]) {
      for (const target of MISSING) {
        assertEquals(await service.ask(target, method), NOT_FOUND, target);
      }
      assertEquals(await service.ask("^/datasensor", method), BAD_HOST);
    }
    assertEquals(await service.stop(), 0);
  });
}

const RESOURCES =
  "404 The resources are /datasensor, /metrics, /sensors, /history and /";
const UNKNOWN =
  "404 No sensor of this name has sent a reading since the start, or it was silent for so long that it is forgotten: /sensors lists those that are known";

/** Returns the reason of a 503. */
const old = (seconds: number, limit: number) =>
  `503 The last reading is ${seconds} s old: the limit is ${limit} s (--max-age)`;

Deno.test("a sensor has a reading, metrics, a last day and a page, and no other resource", async () => {
  const service = new Service("--stdin --json --cors");
  const none =
    "503 The sensor has sent no reading so far; in a pipe, it may buffer its output, or its line may lack a line feed at the end";
  const targets = ["/datasensor", "/metrics", "/sensors", "/history"];
  for (const target of targets) {
    assertEquals(await service.ask(target), none);
    assertEquals(await service.ask(target, "OPTIONS"), "204");
  }
  await service.send("21.50\n");
  assertEquals(await service.ask(), "200 21.50");
  assertEquals(service.modified, "Fri, 20 Nov 2026 17:14:56 GMT");
  const metrics = await service.ask("/metrics");
  assertMatch(metrics, /^datasensor_reading 21\.5$/m);
  assertEquals(await service.ask("/"), `200 ${PAGE}`.trimEnd());
  assertEquals(await service.ask("/history"), "200 time");
  const sensor = '"time":"2026-11-20T17:14:56.000Z","age":';
  for (const age of ["0", "0.1", "0.2"]) {
    const answer = `200 [{${sensor}${age},"reading":21.50}]`;
    assertEquals(await service.ask("/sensors"), answer);
    await service.pass(100);
  }
  for (const target of ["/", ...targets]) {
    assertEquals(await service.ask(target, "POST"), READ_ONLY);
  }
  const others = "/x /datasensor/ /datasensor/x /metrics/ /%".split(" ");
  for (const target of others) {
    assertEquals(await service.ask(target), RESOURCES);
  }
  await service.pass(299_700);
  assertEquals(await service.ask(), "200 21.50");
  await service.pass(1);
  assertEquals(await service.ask(), old(300.1, 300));
  assertEquals(await service.ask("/metrics"), old(300.1, 300));
  const silent = `${sensor}300,"last":21.50`;
  assertEquals(await service.ask("/sensors"), `200 [{${silent}}]`);
  const day = "time,min,mean,max\r\n2026-11-20T17:19:55Z,21.5,21.5,21.5";
  assertEquals(await service.ask("/history"), `200 ${day}`);
  await service.pass(86_700_000);
  assertEquals(await service.ask("/history"), old(87_000.1, 300));
  await service.send(null);
  const ended = `${old(87_000.1, 300)}, and the input has ended`;
  assertEquals(await service.ask(), ended);
  await service.stop();
});

/** Names of sensors, and paths that lead to them. */
const NAMED: [name: string, ...paths: string[]][] = [
  ["kitchen", "kitchen", "kitchen?x=/attic", "%6bitchen"],
  ["Nexus-TH/1/42", "Nexus-TH/1/42", "Nexus-TH%2F1%2f42"],
  ["LaCrosse-WS3600//7", "LaCrosse-WS3600//7"],
  ["a%2Fb", "a%252Fb"],
  ["a?b#", "a%3Fb%23"],
  ["°", "%C2%B0"],
  ["../x", "../x"],
];

Deno.test("each sensor is a resource at its name, which is decoded once", async () => {
  const service = new Service("--stdin --json --key id");
  const lineOf = (name: string) => JSON.stringify({ id: name });
  for (const [name] of NAMED) await service.send(`${lineOf(name)}\n`);
  for (const [name, ...paths] of NAMED) {
    for (const path of paths) {
      const answer = await service.ask(`/datasensor/${path}`);
      assertEquals(answer, `200 ${lineOf(name)}`, path);
    }
  }
  for (const path of ["", "Kitchen", "kitchen/", "a%2Fb", "attic"]) {
    assertEquals(await service.ask(`/datasensor/${path}`), UNKNOWN, path);
  }
  assertEquals(await service.ask("/datasensor/100%"), RESOURCES);
  await service.stop();
});

Deno.test("a silent sensor leaves the readings, and is known for five minutes if it was heard for 10 s", async () => {
  const service = new Service("--stdin --json --key id --max-age 15");
  const [attic, kitchen] = ['{"id":"attic"}', '{"id":"kitchen"}'];
  for (let count = 0; count < 3; count++) {
    await service.send(`${attic}\n`, 5000);
  }
  await service.send(`${kitchen}\n`);
  const ask = async () => [
    await service.ask(),
    await service.ask("/datasensor/attic"),
    await service.ask("/datasensor/kitchen"),
    (await service.ask("/metrics")).slice(0, 3) +
    (await service.ask("/sensors")).slice(0, 3),
  ];
  const all = `200 {"attic":${attic},"kitchen":${kitchen}}`;
  assertEquals(await ask(), [all, `200 ${attic}`, `200 ${kitchen}`, "200200"]);
  assertEquals(service.modified, null); // of the metrics
  await service.ask("/datasensor/attic");
  assertEquals(service.modified, "Fri, 20 Nov 2026 17:15:06 GMT");
  await service.ask();
  assertEquals(service.modified, "Fri, 20 Nov 2026 17:15:11 GMT");
  await service.pass(12_000);
  const one = `200 {"kitchen":${kitchen}}`;
  assertEquals(await ask(), [one, old(17, 15), `200 ${kitchen}`, "200200"]);
  await service.pass(4000);
  // The kitchen was heard once
  assertEquals(await ask(), [old(16, 15), old(21, 15), UNKNOWN, "200200"]);
  await service.pass(294_000); // 315 s after the last reading of the attic
  assertEquals(await ask(), [old(310, 15), old(315, 15), UNKNOWN, "200200"]);
  await service.pass(1);
  assertEquals(await ask(), [old(310.1, 15), UNKNOWN, UNKNOWN, "503503"]);
  await service.stop();
});

Deno.test("Date follows the clock, also when it is set, and Last-Modified is never later", async () => {
  const service = new Service("--stdin");
  service.skip(1002);
  await service.send("21\n");
  const modified = async () => {
    assertEquals(await service.ask(), '200 "21"');
    return service.modified;
  };
  assertEquals(await modified(), "Fri, 20 Nov 2026 17:14:57 GMT");
  service.wallMs -= 3; // so little that it may be the time between two reads of the clocks
  assertEquals(await modified(), "Fri, 20 Nov 2026 17:14:56 GMT");
  service.wallMs -= 86_400_000; // as time synchronization may set it
  assertEquals(await modified(), "Thu, 19 Nov 2026 17:14:56 GMT");
  for (const ms of [0, 1000]) {
    await service.pass(ms);
    for (const path of ["/datasensor", "/metrics", "/sensors", "/history"]) {
      await service.ask(path);
    }
  }
  await service.stop();
});
