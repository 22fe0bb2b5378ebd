// deno task compile and deno task package when they cannot make their file.

import { assertEquals } from "@std/assert";
import { VERSION } from "../../src/process/command_line.ts";
import { Folder } from "../helpers/files.ts";
import { needs } from "../helpers/needs.ts";
import { ReservedPort } from "../helpers/ports.ts";
import { skipIf } from "../helpers/skip.ts";
import { output, Process } from "../helpers/process.ts";
import { waitFor } from "../helpers/wait.ts";

/** Starts to compile into a folder, and waits until the tool's own has files. */
async function startCompile({ path }: Folder): Promise<Process> {
  const args = ["task", "-q", "compile", "--output-dir", path];
  const process = new Process(Deno.execPath(), args, { killGroup: true });
  const find = async () =>
    (await output("find", [path, "-path", "*/main.ts"])).stdout;
  return await process.untilReady(() => waitFor(`files in ${path}`, find));
}

Deno.test("compile leaves no files when a signal stops it", async () => {
  using place = await Folder.create();
  await using process = await startCompile(place);
  assertEquals((await process.stop("SIGINT")).code, 1);
  assertEquals(process.stderr.split("\n").at(-2), "Stopped by SIGINT");
  assertEquals(place.names(), []);
});

/** Makes a package where dpkg-deb is not installed, and returns the error. */
async function failToPackage({ path }: Folder): Promise<string> {
  const args = ["task", "-q", "package", "--output-dir", path];
  const env = { PATH: path };
  const { code, stderr } = await output(Deno.execPath(), args, { env });
  assertEquals(code, 1);
  return stderr.trim().split("\n").at(-1)!;
}

Deno.test("package explains in one sentence that dpkg-deb is not installed", async () => {
  using place = await Folder.create();
  assertEquals(
    await failToPackage(place),
    "dpkg-deb is not installed: install it with `apt install dpkg` on Debian " +
      "or Ubuntu, or `brew install dpkg` on a Mac",
  );
  assertEquals(place.names(), []);
});

Deno.test("a tool removes the files of one that was killed an hour ago, but not of one that may run", async () => {
  using place = await Folder.create();
  await (await startCompile(place))[Symbol.asyncDispose](); // SIGKILL
  const names = place.names();
  await failToPackage(place);
  assertEquals(place.names(), names);
  const hourAgo = Date.now() / 1000 - 3601;
  await Deno.utime(`${place.path}/${names[0]}`, hourAgo, hourAgo);
  await failToPackage(place);
  assertEquals(place.names(), []);
});

/** Asserts that `deno task compile` fails, and keeps an earlier executable. */
async function assertFails(
  message: string,
  variables: string[],
  { target = "aarch64", cwd = "." } = {},
) {
  using place = await Folder.create();
  const earlier = `${place.path}/datasensor-${target}`;
  await Deno.writeTextFile(earlier, "an earlier executable");
  const flags = [`--target=${target}`, "--output-dir", place.path];
  const run = [Deno.execPath(), "task", "-q", "compile", ...flags];
  const args = ["-u", "DENORT_BIN", ...variables, ...run];
  const { code, stdout, stderr } = await output("env", args, { cwd });
  assertEquals([code, stdout], [1, ""]);
  assertEquals(stderr.trim().split("\n").slice(-2), [
    `Compiling ${earlier} with Deno ${Deno.version.deno}`,
    message,
  ]);
  assertEquals(await Deno.readTextFile(earlier), "an earlier executable");
  assertEquals(place.names(), [`datasensor-${target}`]);
}

Deno.test("compile explains that the download of denort is refused", async () => {
  using cache = await Folder.ofCache();
  await output("rm", ["-f", `${cache.path}/dl`]); // where Deno keeps denort
  using nobody = new ReservedPort();
  await assertFails(
    `Cannot download https://dl.deno.land/release/v${Deno.version.deno}/` +
      "denort-aarch64-unknown-linux-gnu.zip: Connection refused (os error " +
      "111); unpack a copy and set DENORT_BIN to its denort", // on Linux
    [`DENO_DIR=${cache.path}`, `HTTPS_PROXY=http://127.0.0.1:${nobody}`],
  );
});

Deno.test("compile rejects another file than denort for the processor", async () => {
  using project = await Folder.ofProject();
  await Deno.symlink(Deno.execPath(), `${project.path}/denort`);
  const { arch } = Deno.build;
  const target = arch === "aarch64" ? "x86_64" : "aarch64";
  const name = `denort ${Deno.version.deno} for`;
  const files = {
    denort: `${name} ${arch}`, // relative to the project
    missing: "not a readable file",
  };
  for (const [file, found] of Object.entries(files)) {
    await assertFails(
      `DENORT_BIN must be ${name} ${target}: "${file}" is ${found}`,
      [`DENORT_BIN=${file}`],
      { target, cwd: project.path },
    );
  }
});

Deno.test(
  "compile rejects an executable that does not run",
  needs({
    missing: [
      Deno.build.os === "linux"
        ? undefined
        : "run it on Linux, for which the executables are",
    ],
  }),
  async () => {
    using project = await Folder.ofProject(); // without a commit
    const { stdout } = await output(Deno.execPath(), ["--version"]);
    await assertFails(
      `The executable should print "${VERSION}" for --version, but prints ` +
        `"${stdout.split("\n")[0]}"`,
      [`DENORT_BIN=${Deno.execPath()}`],
      { target: Deno.build.arch, cwd: project.path },
    );
  },
);

Deno.test(
  "compile rejects an executable that does not fit large pages",
  skipIf(
    Deno.build.arch === "x86_64"
      ? undefined
      : "run it on x86_64, where the segments of Deno share large pages",
  ),
  async () => {
    using folder = await Folder.create();
    const denort = `${folder.path}/denort`;
    const bytes = await Deno.readFile(Deno.execPath());
    bytes[18] = 183; // the processor, aarch64
    await Deno.writeFile(denort, bytes);
    await assertFails(
      "The executable might crash where memory pages are larger than 4 KB, " +
        "as on a Raspberry Pi 5: use another version of Deno than " +
        Deno.version.deno,
      [`DENORT_BIN=${denort}`],
    );
  },
);
