// nginx serves the board over HTTPS to clients that have a password.

import { assertEquals } from "@std/assert";
import { readersPage } from "../helpers/guide.ts";
import { skipIf } from "../helpers/skip.ts";
import { waitFor } from "../helpers/wait.ts";
import { chromium, readPage, type Shown } from "./browser.ts";
import { Machine, missingMachine } from "../helpers/machine.ts";

Deno.test(
  skipIf(
    missingMachine("chromium", "nginx", "openssl", "prometheus", "promtool"),
    "nginx passes on what the board serves, over HTTPS to clients with the password",
  ),
  async () => {
    await using machine = await Machine.start();
    const service = machine.startService(
      ...["--stdin", "--json", "--key", "model,channel,id"],
      ...["--host", "127.0.0.1"],
    );
    await using _service = service;
    const password = "correct horse";
    const install = readersPage.block("sudo apt install nginx");
    const mistyped = await machine.type(install, password, "wrong");
    assertEquals(mistyped.code, 1);
    const { code, stderr } = await machine.type(install, password, password);
    assertEquals(code, 0, stderr);
    await using _nginx = machine.start("nginx", "-g", "daemon off;");
    const [copy, read] = readersPage.block("curl --cacert").trim().split("\n");
    await machine.type(copy!);
    const job = readersPage.block("job_name: datasensor_https")
      .replace("PASSWORD", password);
    const path = "/etc/prometheus/prometheus.yml";
    await machine.type(`cp datasensor.crt /etc/prometheus
cat >${path} <<'END'
global: { scrape_interval: 500ms }
${job}END`);
    const data = `${machine.folder.path}/data`;
    const flags = [`--config.file=${path}`, `--storage.tsdb.path=${data}`];
    await using _prometheus = machine.start("prometheus", ...flags);
    const readWith = (password: string, path = "") =>
      `echo '${password}' | ${read}${path} -s -w ' %{http_code}'`;

    await machine.typeUntil(readWith(password), /^\{"type".*\} 503/);
    await machine.typeUntil(readWith("wrong"), / 401/);
    const status = "curl -ks -o /dev/null -w '%{http_code}'";
    await machine.typeUntil(`${status} https://BOARD/`, /^401/);
    for (
      const [path, reading] of [
        ["LaCrosse-WS3600//7", { model: "LaCrosse-WS3600", id: 7 }],
        ["living%20room/1", { model: "living room", channel: 1 }],
        ["a%252Fb", { model: "a/b", t: 21.5 }],
      ] as const
    ) {
      const line = JSON.stringify(reading);
      await service.write(`${line}\n`);
      const expected = RegExp(`^${RegExp.escape(line)} 200`);
      await machine.typeUntil(readWith(password, `/${path}`), expected);
    }
    const user = `reader:${encodeURIComponent(password)}`;
    const profile = `${machine.folder.path}/profile`;
    const show = async () => {
      const command = chromium(`https://${user}@BOARD/`, profile).join(" ");
      return readPage((await machine.type(command)).stdout);
    };
    const isShown = ({ sensors }: Shown) =>
      /^a%2Fb \d+ s old,t 21.5,LaCrosse/.test(`${sensors}`);
    await waitFor("the page", show, isShown);
    const ask =
      "promtool query instant http://localhost:9090 datasensor_reading";
    await machine.typeUntil(
      ask,
      /job="datasensor_https", key="t".* => 21\.5 @/,
    );
    await service.stop();
    await machine.typeUntil(readWith(password), / 502/);
  },
);
