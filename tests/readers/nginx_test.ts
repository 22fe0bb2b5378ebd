// nginx serves the board's reading over HTTPS to clients that have a password.

import { assertEquals, assertMatch } from "@std/assert";
import { fill } from "./examples.ts";
import { CONFIG, indent, Prometheus } from "./prometheus.ts";
import { Folder } from "../helpers/files.ts";
import { readersPage } from "../helpers/guide.ts";
import { missingAddress, missingCommand, needs } from "../helpers/needs.ts";
import { ReservedPort } from "../helpers/ports.ts";
import { get } from "../helpers/network.ts";
import { output, Process } from "../helpers/process.ts";
import { Program } from "../helpers/program.ts";
import { waitFor } from "../helpers/wait.ts";

const PASSWORD = "correct horse";

/** nginx after the page's commands, in a folder instead of `/etc/nginx`. */
class Nginx extends Process {
  static async start(program: Program): Promise<Nginx> {
    const folder = await Folder.create();
    await Deno.chmod(folder.path, 0o755); // nginx reads as www-data
    const isRoot = Deno.uid() === 0;
    const group = " -g www-data";
    const commands = readersPage.block("sudo apt install nginx") +
      fill(readersPage.block("sudo openssl"), {
        "passwd -6": `passwd -6 "${PASSWORD}"`, // instead of typing it
        [group]: isRoot ? group : "", // only root may choose the group
        "BOARD": "localhost",
      });
    const script = fill(commands, {
      "sudo apt install": "command -v",
      "sudo ": "",
      "/usr/share/doc/datasensor/examples": "src/readers",
      "/etc/nginx/conf.d": folder.path,
      "/etc/nginx": folder.path,
    });
    const done = await output("sh", ["-ec", `umask 022\n${script}`]);
    assertEquals(done.code, 0, done.stderr);

    const port = new ReservedPort();
    const file = `${folder.path}/datasensor.conf`;
    const example = fill(await Deno.readTextFile(file), {
      " 443 ": ` 127.0.0.1:${port} `,
      ":443 ": `:${port} `,
      "/etc/nginx/": `${folder.path}/`,
      "127.0.0.1:5000": `127.0.0.1:${program.port}`,
    });
    await Deno.writeTextFile(file, example);
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
    const ask = () => nginx.curl();
    const isReady = (answer: string) => answer.endsWith(" 401");
    return await nginx.untilReady(() => waitFor("401", ask, isReady));
  }

  private constructor(
    readonly folder: Folder,
    readonly port: ReservedPort,
    main: string,
  ) {
    const args = ["-p", folder.path, "-c", main, "-e", "stderr"];
    super("nginx", args, { killGroup: true, owned: [port, folder] });
  }

  get certificate(): string {
    return `${this.folder.path}/datasensor.crt`;
  }

  /** Runs the page's curl command; returns the body and the status. */
  async curl(password?: string, ...args: string[]): Promise<string> {
    const line = readersPage.line("curl --cacert");
    const command = fill(line, {
      "datasensor.crt": this.certificate,
      " -u reader": password ? ` -u "reader:${password}"` : "",
      "BOARD": `localhost:${this.port}`,
    });
    const script = `${command} -s -w ' %{http_code}' "$@"`;
    return (await output("sh", ["-c", script, "sh", ...args])).stdout;
  }
}

const missingNginx = missingCommand("nginx", "openssl", "curl") ??
  missingAddress("::1");

Deno.test(
  "nginx.conf serves the reading over HTTPS to clients with the password, and errors without a current one",
  needs({ missing: [missingNginx, missingAddress("127.0.0.2")] }),
  async () => {
    const flags = ["--stdin", "--host", "127.0.0.1"];
    await using program = await Program.start(flags, { hasInput: true });
    await using nginx = await Nginx.start(program);
    assertMatch(await nginx.curl(PASSWORD), /^\{"type".*\} 503$/);
    await program.write("21.5\n");
    await program.waitForAnswer('"21.5"');
    for (const family of ["-4", "-6"]) {
      assertEquals(await nginx.curl(PASSWORD, family), '"21.5" 200');
    }
    assertMatch(await nginx.curl("wrong"), / 401$/);

    const elsewhere = ["--interface", "127.0.0.2"];
    assertEquals(await nginx.curl(PASSWORD, ...elsewhere), '"21.5" 200');
    const log = `${nginx.folder.path}/access.log`;
    const logged = /^127\.0\.0\.2 - reader .* 200 /m;
    const readLog = () => Deno.readTextFile(log);
    await waitFor(`${logged} in the log`, readLog, (text) => logged.test(text));
    const bypass = `http://127.0.0.2:${program.port}/datasensor`;
    assertEquals((await output("curl", [bypass])).code, 7);

    const stat = ["-c", "%a %G", `${nginx.folder.path}/datasensor.passwords`];
    const { stdout } = await output("stat", stat);
    assertMatch(stdout, Deno.uid() === 0 ? /^640 www-data\n$/ : /^640 /);

    // A client as strict about certificates as a browser
    const caCerts = [await Deno.readTextFile(nginx.certificate)];
    using client = Deno.createHttpClient({ caCerts });
    const authorization = `Basic ${btoa(`reader:${PASSWORD}`)}`;
    const options = { client, headers: { authorization } };
    const url = `https://localhost:${nginx.port}/datasensor`;
    assertEquals(await (await get(url, options)).text(), '"21.5"');

    await program.stop();
    assertMatch(await nginx.curl(PASSWORD), / 502$/);
  },
);

Deno.test(
  "Prometheus reads the board through nginx, with the password and the certificate",
  needs({ commands: ["prometheus", "promtool"], missing: [missingNginx] }),
  async () => {
    const flags = ["--stdin", "--host", "127.0.0.1"];
    await using program = await Program.start(flags, { hasInput: true });
    await program.write("21.5\n");
    await using nginx = await Nginx.start(program);
    const lines = fill(readersPage.block("scheme: https"), {
      "PASSWORD": PASSWORD,
      "/etc/prometheus/datasensor.crt": nginx.certificate,
    });
    const config = fill(CONFIG, {
      "metrics_path:": `${indent(lines)}\n    metrics_path:`,
      "BOARD:5000": `localhost:${nginx.port}`,
    });
    await using prometheus = await Prometheus.start(config);
    await prometheus.waitFor("datasensor_reading", [21.5]);
  },
);
