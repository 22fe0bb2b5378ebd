// Prometheus reads boards, and its rules find those without a reading.

import { assertEquals } from "@std/assert";
import { block } from "../helpers/documents.ts";
import { Machine, testOnMachine } from "../helpers/machine.ts";
import { output } from "../helpers/process.ts";
import { testWith } from "../helpers/skip.ts";

const PAGE = "src/readers/README.md";

/** The page's settings, each part after its line, with intervals for a test. */
const SETTINGS = `
global: { scrape_interval: 500ms, evaluation_interval: 500ms }
${block(PAGE, "rule_files:")}`;

const test = await testOnMachine("prometheus", "promtool");

test("Prometheus records the readings of each sensor, and which is silent", async () => {
  await using machine = await Machine.start();
  const flags = ["--stdin", "--json", "--key", "id", "--max-age", "3"];
  await using service = machine.startService(...flags);
  const path = "/etc/prometheus/prometheus.yml";
  const { code, stdout, stderr } = await machine.type(
    `${block(PAGE, "apt install prometheus\n")}
cat >${path} <<'END'${SETTINGS}END
${block(PAGE, "promtool check config")}`,
  );
  assertEquals(code, 0, stdout + stderr);
  await using _prometheus = machine.start(
    "prometheus",
    `--config.file=${path}`,
    `--storage.tsdb.path=${machine.folder.path}/data`,
  );
  /** Waits for the values of an expression, by their sensor and key. */
  const waitForValues = async (query: string, expected: string) => {
    const ask = `promtool query instant http://localhost:9090 '${query}' |
      sed 's/.*key="\\(.*\\)", sensor="\\(.*\\)".* => \\(\\S*\\) @.*/\\2.\\1=\\3/
        s/.*sensor="\\(.*\\)".* => \\(\\S*\\) @.*/\\1=\\2/; s/.*{.*job="datasensor"} => \\(\\S*\\) @.*/\\1/' |
      sort | paste -sd ' '`;
    await machine.typeUntil(ask, RegExp(`^${expected}\n\\[0\\]$`));
  };
  await waitForValues("up", "0"); // no sensor so far
  const [near, far] = ['{"id":1,"t":21.5}', '{"id":2,"t":-3.5}']
    .map((line) => setInterval(() => service.write(`${line}\n`), 100));
  try {
    const both = "1.id=1 1.t=21.5 2.id=2 2.t=-3.5";
    await waitForValues("datasensor_reading", both);
    // Once it is heard for 10 s, which 20 scrapes take, it stays known for minutes
    const isServed = 'sum_over_time(datasensor_up{sensor="2"}[5m]) > bool 20';
    await waitForValues(isServed, "2=1");
    clearInterval(far);
    await waitForValues("datasensor_up", "1=1 2=0");
    await waitForValues("datasensor_reading", "1.id=1 1.t=21.5");
    const read = block(PAGE, "/metrics\n");
    const version = /^datasensor_build_info\{version=".*"\} 1$/m;
    await machine.typeUntil(read, version);
  } finally {
    clearInterval(near);
    clearInterval(far);
  }
  await service.stop();
  await waitForValues("up", "0");
});

testWith("promtool")("the rules alert as rules_test.yml says", async () => {
  const args = ["test", "rules", "tests/readers/rules_test.yml"];
  const { code, stdout, stderr } = await output("promtool", args);
  assertEquals(code, 0, stdout + stderr);
});
