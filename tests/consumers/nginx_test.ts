// nginx serves the board's reading over HTTPS to clients that have a password.

import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  BlackboxExporter,
  missingBlackboxExporter,
} from "./blackbox_exporter.ts";
import { Collectd } from "./collectd.ts";
import { SimulatedBoard } from "./simulated_board.ts";
import { fill, listBoards, type Values } from "./examples.ts";
import { Folder } from "../helpers/files.ts";
import { guide } from "../helpers/guide.ts";
import { missingAddress, missingCommand, needs } from "../helpers/needs.ts";
import { ReservedPort } from "../helpers/ports.ts";
import { get } from "../helpers/network.ts";
import { type Output, output, Process } from "../helpers/process.ts";
import { missingTerminal, onTerminal } from "../helpers/terminal.ts";
import { waitFor } from "../helpers/wait.ts";

const PASSWORD = "correct horse";

/** nginx with the example, and the files that the guide's commands create. */
class Nginx extends Process {
  static async start(folder: Folder, board: SimulatedBoard): Promise<Nginx> {
    await Deno.chmod(folder.path, 0o755); // nginx reads as www-data
    await createCredentials(folder);
    const port = new ReservedPort();
    const file = await installExample(folder, {
      " 443 ": ` 127.0.0.1:${port} `,
      ":443 ": `:${port} `,
      "/etc/nginx/": `${folder.path}/`,
      "127.0.0.1:5000": board.host,
    });
    const main = `${folder.path}/main.conf`;
    await Deno.writeTextFile(
      main,
      `daemon off;
user www-data; # as on Debian
pid pid;
events {}
http {
  access_log access.log;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  include ${file};
}
`,
    );
    const nginx = new Nginx(folder, port, main);
    // Only it has the test's certificate, which curl verifies
    const ask = async () => Object.values(await nginx.curl()).join(" ");
    const what = "nginx to ask for a password (401)";
    const ready = () => waitFor(what, ask, (answer) => / 401 /.test(answer));
    return await nginx.untilReady(ready);
  }

  readonly port: number;

  private constructor(
    readonly folder: Folder,
    port: ReservedPort,
    main: string,
  ) {
    const args = ["-p", folder.path, "-c", main, "-e", "stderr"];
    super("nginx", args, { killGroup: true, owned: [port] });
    this.port = port.number;
  }

  /** Fetches with a client as strict about certificates as a browser. */
  async fetch(): Promise<string> {
    const cert = await Deno.readTextFile(`${this.folder.path}/datasensor.crt`);
    using client = Deno.createHttpClient({ caCerts: [cert] });
    const url = `https://localhost:${this.port}/datasensor`;
    const headers = { authorization: `Basic ${btoa(`reader:${PASSWORD}`)}` };
    return await (await get(url, { client, headers })).text();
  }

  /** Runs curl with the guide's certificate; prints the body and the status. */
  async curl(...args: string[]): Promise<Output> {
    return await output("curl", [
      "-sS",
      "-w",
      " %{http_code}",
      "--cacert",
      `${this.folder.path}/datasensor.crt`,
      ...args,
      `https://localhost:${this.port}/datasensor`,
    ]);
  }

  /** Runs the guide's commands of a client, typing the password. */
  async ask(password: string): Promise<string> {
    using client = await Folder.create();
    const commands = fill(guide.block("https://BOARD"), {
      "scp BOARD:/etc/nginx/": `cd ${client.path}; cp ${this.folder.path}/`,
      "BOARD": `localhost:${this.port}`,
    });
    return await typePassword(commands, password, 1);
  }
}

/** Runs the guide's commands that install the example, and fills it in. */
async function installExample(folder: Folder, values: Values): Promise<string> {
  const commands = fill(guide.block("sudo apt install nginx"), {
    "sudo apt ": "apt-get --simulate ", // it is installed
    "sudo cp": "cp",
    "/usr/share/doc/datasensor/examples": "src/board/examples",
    "/etc/nginx/conf.d": folder.path,
  });
  const { code, stderr } = await output("sh", ["-ec", commands]);
  assertEquals(code, 0, stderr);
  const file = `${folder.path}/datasensor.conf`;
  const example = await Deno.readTextFile(file);
  await Deno.writeTextFile(file, fill(example, values));
  return file;
}

/** Runs the guide's commands for the certificate and the password file. */
async function createCredentials(folder: Folder): Promise<void> {
  const isRoot = Deno.uid() === 0;
  const group = " -g www-data";
  const commands = fill(guide.block("sudo openssl"), {
    "sudo ": "",
    [group]: isRoot ? group : "", // only root may choose the group
    "BOARD": "localhost",
    "/etc/nginx/": `${folder.path}/`,
  });
  const asSudo = `umask 022\n${commands}`;
  const shown = await typePassword(asSudo, PASSWORD, 2);
  assert(!shown.includes("$6$"), shown);
  const passwords = `${folder.path}/datasensor.passwords`;
  assertMatch(await Deno.readTextFile(passwords), /^reader:\$6\$/); // SHA-512
  const access = await output("stat", ["-c", "%a %G", passwords]);
  assertMatch(access.stdout, isRoot ? /^640 www-data$/m : /^640 /);
  const certificate = `${folder.path}/datasensor.crt`;
  const readers = await output("stat", ["-c", "%a", certificate]);
  assertEquals(readers.stdout, "644\n"); // for the user who copies it
  const nineYears = `${9 * 365 * 24 * 60 * 60}`;
  const { code, stdout } = await output("openssl", [
    "x509",
    "-noout",
    "-checkend",
    nineYears,
    "-in",
    certificate,
  ]);
  assertEquals(code, 0, stdout);
}

/** Runs commands on a terminal, types a password, and returns the output. */
async function typePassword(
  commands: string,
  password: string,
  times: number,
): Promise<string> {
  await using terminal = new Process(...onTerminal(["sh", "-ec", commands]));
  for (let count = 1; count <= times; count++) {
    await waitFor(
      `request ${count} for a password`,
      () => terminal.stdout,
      (shown) => shown.match(/password.*?:/gi)?.length === count,
    );
    await terminal.write(`${password}\n`);
  }
  const { code } = await terminal.waitForEnd();
  assertEquals(code, 0, terminal.stdout);
  return terminal.stdout;
}

const missingNginx = missingCommand("nginx", "openssl", "curl", "apt-get") ??
  missingTerminal() ?? missingAddress("::1");

/** The folders with the units that the guide's command restarts. */
const UNITS = {
  datasensor: "src/board/package/usr/lib/systemd/system",
  nginx: "/lib/systemd/system",
};

Deno.test(
  "the guide restarts the service and nginx by the names of their units",
  needs({ missing: [missingNginx] }),
  async () => {
    const command = `sudo systemctl restart ${Object.keys(UNITS).join(" ")}`;
    assertEquals(guide.line(command), command);
    for (const [name, folder] of Object.entries(UNITS)) {
      await Deno.stat(`${folder}/${name}.service`);
    }
  },
);

Deno.test(
  "nginx.conf serves the reading over HTTPS to clients with the password, and errors without a current one",
  needs({ missing: [missingNginx, missingAddress("127.0.0.2")] }),
  async () => {
    using folder = await Folder.create();
    await using board = await SimulatedBoard.start("--host", "127.0.0.1");
    await board.say("21.5");
    await using nginx = await Nginx.start(folder, board);

    assertMatch(await nginx.ask(PASSWORD), /"21\.5"\n?$/);
    assertMatch(await nginx.ask("wrong"), /401 Authorization Required/);
    assertMatch((await nginx.curl()).stdout, / 401$/);
    assertEquals(await nginx.fetch(), '"21.5"');
    const user = ["-u", `reader:${PASSWORD}`];
    for (const family of ["-4", "-6"]) {
      const { stdout, stderr } = await nginx.curl(family, ...user);
      assertEquals(stdout, '"21.5" 200', stderr);
    }

    const elsewhere = await nginx.curl(...user, "--interface", "127.0.0.2");
    assertEquals(elsewhere.stdout, '"21.5" 200');
    const log = `${folder.path}/access.log`;
    const logged = /^127\.0\.0\.2 - reader .* 200 /m;
    const readLog = () => Deno.readTextFile(log);
    await waitFor(`${logged} in the log`, readLog, (text) => logged.test(text));
    const { client, status } = (await board.requests()).at(-1)!;
    assertEquals([client, status], ["127.0.0.1", "200"]);

    const bypass = `http://127.0.0.2:${board.program.port}/datasensor`;
    assertEquals((await output("curl", [bypass])).code, 7);

    await board.becomeStale();
    assertMatch((await nginx.curl(...user)).stdout, /^\{"type".*\} 503$/);
    await board.goDown();
    assertMatch((await nginx.curl(...user)).stdout, / 502$/);
  },
);

Deno.test(
  "collectd and blackbox_exporter read the board through nginx, with the password and the certificate",
  needs({
    commands: ["collectd"],
    missing: [missingNginx, missingBlackboxExporter()],
  }),
  async () => {
    using folder = await Folder.create();
    const flags = ["--host", "127.0.0.1", "--json"];
    await using board = await SimulatedBoard.start(...flags);
    await using nginx = await Nginx.start(folder, board);
    const host = `localhost:${nginx.port}`;
    await listBoards(folder, [host]);
    const certificate = `${folder.path}/datasensor.crt`;
    const examples = {
      "collectd.conf": "21.5",
      "collectd_json.conf": '{"temperature_C":21.5}',
    };
    for (const [example, reading] of Object.entries(examples)) {
      await board.say(reading);
      const values = {
        "http://BOARD:5000": "https://BOARD",
        "#User": "User",
        "#Password": "Password",
        "PASSWORD": PASSWORD,
        "#CACert": "CACert",
        "/etc/collectd/datasensor.crt": certificate,
      };
      // Otherwise it would give up on a busy machine: it waits for one interval
      const options = { values, interval: 10 };
      await using collectd = await Collectd.start(folder, example, options);
      const isRead = (metrics: string) => metrics.endsWith("} 21.5");
      await waitFor("a metric of 21.5", () => collectd.metrics(), isRead);
    }
    await using exporter = await BlackboxExporter.start(folder, {
      values: {
        "#basic_auth:": "basic_auth:",
        "#  username:": "  username:",
        "#  password:": "  password:",
        "PASSWORD": PASSWORD,
        "#tls_config:": "tls_config:",
        "#  ca_file:": "  ca_file:",
        "/etc/prometheus/datasensor.crt": certificate,
      },
    });
    assertEquals(
      (await exporter.probe(`https://${host}`)).get("probe_success"),
      1,
    );
  },
);
