// The pages are held together with what is tested by their links and their code blocks.
// Sentences are free.

import { assertEquals } from "@std/assert";
import { glob } from "node:fs/promises";
import { listBrokenLinks } from "../helpers/guide.ts";

const DOCUMENTS = [
  "README.md",
  "src/board/README.md",
  "src/readers/README.md",
];

Deno.test("every link of a page leads to a file or a section", async () => {
  const pages = [...DOCUMENTS, ...await Array.fromAsync(glob(".github/*.md"))];
  const broken = await Promise.all(pages.map(listBrokenLinks));
  assertEquals(broken.flat(), []);
});

/** What is typed in the sessions, and their settings. */
const SESSIONS = await Array.fromAsync(
  glob("tests/board/*.md"),
  (file) => Deno.readTextFile(file),
);

/** Who else runs a block that contains a text, or why nobody can. */
const RUN: [text: string, how: string][] = [
  ["deno task start", "tests/pages/readme_test.ts"],
  ['"Sensor data"\n', "tests/pages/readme_test.ts"],
  ["$ rm plugged-in", "tests/pages/readme_test.ts"],
  ["Usage: datasensor", "tests/pages/readme_test.ts"],
  [
    "curl -fsS -m 5 http://BOARD:5000/datasensor\n",
    "tests/readers/curl_test.ts",
  ],
  ["prometheus", "tests/readers/prometheus_test.ts"],
  ["rule_files:", "tests/readers/prometheus_test.ts"],
  ["job_name: datasensor_https", "tests/readers/nginx_test.ts"],
  ["version=0.0.4", "tests/readers/prometheus_test.ts"],
  ["value_json", "tests/readers/home_assistant_test.ts"],
  ["mosquitto_pub", "tests/readers/mqtt_test.ts"],
  ["mqtt-BOARD", "starts that unit, which a test runs"],
  ["nginx", "tests/readers/nginx_test.ts"],
  ["sudo nano", "needs a person; sessions write the file"],
  ["IPAddressDeny", "needs BPF; last seen on emulated ARM boards"],
  ["mosquitto_sub", "tests/package/sensor_examples_test.ts"],
  ["--key", "tests/package/sensor_examples_test.ts"],
  ["deno task package", "a session installs what it makes"],
  ["deno task compile", "a session starts what it makes"],
  ["git pull", "needs the server of the repository"],
];

for (const document of DOCUMENTS) {
  Deno.test(`each code block in ${document} is run`, async () => {
    const text = await Deno.readTextFile(document);
    const blocks = text.matchAll(/^```\w+\n(.*?)^```$/gms);
    const isRun = (block: string) =>
      RUN.some(([text]) => block.includes(text)) ||
      block.trim().split("\n").every((line) =>
        SESSIONS.some((session) => session.includes(line.trim()))
      );
    const missing = Array.from(blocks, ([, block]) => block!)
      .filter((block) => !isRun(block));
    assertEquals(
      missing,
      [],
      "Type it in a session of tests/board, or add it to RUN",
    );
  });
}
