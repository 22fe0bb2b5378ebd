// nginx serves the board over HTTPS to clients that have a password.

import { assertEquals } from "@std/assert";
import { block } from "../helpers/documents.ts";
import { Machine, testOnMachine } from "../helpers/machine.ts";
import { chromium } from "./browser.ts";

const PAGE = "src/readers/README.md";
const PASSWORD = "correct horse";

/** Lines of a sensor, each at its address. */
const READINGS = {
  "LaCrosse-WS3600//7": '{"model":"LaCrosse-WS3600","id":7}',
  "living%20room/1": '{"model":"living room","channel":1}',
  "a%252Fb": '{"model":"a/b","t":21.5}',
};

const test = await testOnMachine("chromium", "nginx", "openssl", "promtool");

test("nginx passes on what the board serves, over HTTPS to clients with the password", async () => {
  await using machine = await Machine.start();
  const flags = ["--json", "--key=model,channel,id", "--host=127.0.0.1"];
  await using service = machine.startService("--stdin", ...flags);
  const install = block(PAGE, "sudo apt install nginx");
  assertEquals((await machine.type(install, PASSWORD, "wrong")).code, 1);
  const { code, stderr } = await machine.type(install, PASSWORD, PASSWORD);
  assertEquals(code, 0, stderr);
  await using _nginx = machine.start("nginx", "-g", "daemon off;");
  const [copy, read] = block(PAGE, "curl --cacert").trim().split("\n");
  await machine.type(copy!);
  const readWith = (password: string, path = "") =>
    `echo '${password}' | ${read}${path} -s -w ' %{http_code}'`;

  await machine.typeUntil(readWith(PASSWORD), /^\{"type".*\} 503/);
  await machine.typeUntil(readWith("wrong"), / 401/);
  const status = "curl -ks -o /dev/null -w '%{http_code}' https://BOARD/";
  await machine.typeUntil(status, /^401/);
  for (const [path, line] of Object.entries(READINGS)) {
    await service.write(`${line}\n`);
    const expected = RegExp(`^${RegExp.escape(line)} 200`);
    await machine.typeUntil(readWith(PASSWORD, `/${path}`), expected);
  }
  const url = `https://reader:${encodeURIComponent(PASSWORD)}@BOARD/`;
  const profile = `${machine.folder.path}/profile`;
  const page = chromium(url, profile).join(" ");
  const sensors = /<bdi[^>]*>a%2Fb<.*>21\.5<.*<bdi[^>]*>LaCrosse/s;
  await machine.typeUntil(page, sensors);
  await service.stop();
  await machine.typeUntil(readWith(PASSWORD), / 502/);

  const job = block(PAGE, "job_name: datasensor_https");
  const settings = `/etc/prometheus/prometheus.yml <<'END'\n${job}END`;
  const check = `cp datasensor.crt /etc/prometheus\ncat >${settings}
    promtool check config /etc/prometheus/prometheus.yml`;
  assertEquals((await machine.type(check)).code, 0);
});
