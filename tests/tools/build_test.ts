// deno task compile and deno task package when they cannot make their file, or must not.

import { Buffer } from "node:buffer";
import { assertEquals } from "@std/assert";
import { fitsLargePages } from "../../.tools/elf.ts";
import { isOlder } from "../../.tools/oldest_deno.ts";
import { Folder } from "../helpers/files.ts";
import { ReservedPort } from "../helpers/ports.ts";
import { output, Process } from "../helpers/process.ts";
import { skipIf } from "../helpers/needs.ts";
import { waitFor } from "../helpers/wait.ts";

const PT_LOAD = 1;
const PT_NOTE = 4;

type Segment = [offset: number, address: number, size: number, type?: number];

/** Encodes the headers of an ELF file. */
function encode(segments: Segment[]): Uint8Array {
  const magic = "\x7fELF\x02\x01"; // 64 bits, little-endian
  const header = magic.padEnd(64 + 56 * segments.length, "\0");
  const bytes = new TextEncoder().encode(header);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(32, 64n, true); // offset of the program headers
  view.setUint16(54, 56, true); // size of each program header
  view.setUint16(56, segments.length, true); // number of them
  view.setUint16(58, 1, true); // size of each section header
  view.setUint16(60, 1, true); // number of them
  for (const [index, segment] of segments.entries()) {
    const [offset, address, size, type = PT_LOAD] = segment;
    const start = 64 + 56 * index;
    view.setUint32(start, type, true);
    view.setBigUint64(start + 8, BigInt(offset), true);
    view.setBigUint64(start + 16, BigInt(address), true);
    view.setBigUint64(start + 40, BigInt(size), true);
  }
  return bytes;
}

/** The segments of denort 2.7.11 for aarch64. */
const DENORT: Segment[] = [
  [0x0, 0x0, 0x26f7b78],
  [0x2700000, 0x2710000, 0x2d35200],
  [0x5435200, 0x5455200, 0x1e6e00],
  [0x561b2a8, 0x564b2a8, 0x7b868],
];

Deno.test("isOlder() compares versions by their numbers", () => {
  const older = ["1.46.3", "2.7.11", "2.8.2", "2.7.0-rc.1"];
  const others = ["2.8.3", "2.8.10", "2.10.0", "3.0.0"];
  const isOld = (version: string) => isOlder(version, "2.8.3");
  assertEquals([...older, ...others].filter(isOld), older);
});

const LAYOUTS: [what: string, fits: boolean, ...Segment[]][] = [
  ["output of Deno 2.9.6", true, ...DENORT, [0x5864000, 0x5864000, 0x17ca0c]],
  ["segments in reverse order", true, DENORT[1]!, DENORT[0]!],
  ["output of Deno 2.9.1", false, ...DENORT, [0x5864000, 0x56c7000, 0x17ca0c]],
  ["segments that share a page", false, [0, 0, 0x10001], [0x18000, 0x18000, 1]],
  ["a note whose offset differs from its address", true, [1, 0, 0, PT_NOTE]],
];

for (const [what, fits, ...segments] of LAYOUTS) {
  Deno.test(`fitsLargePages() ${fits ? "accepts" : "rejects"} ${what}`, () => {
    assertEquals(fitsLargePages(encode(segments)), fits);
  });
}

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

Deno.test("package explains in one sentence that dpkg-deb is not installed", async () => {
  using place = await Folder.create();
  const args = ["task", "-q", "package", "--output-dir", place.path];
  const env = { PATH: place.path };
  const { code, stderr } = await output(Deno.execPath(), args, { env });
  assertEquals(code, 1);
  assertEquals(
    stderr.trim().split("\n").at(-1),
    "dpkg-deb is not installed: install it with `apt install dpkg` on Debian " +
      "or Ubuntu, or `brew install dpkg` on a Mac",
  );
  assertEquals(place.names(), []);
});

/** Asserts that `deno task compile` fails, and keeps an earlier executable. */
async function assertFails(
  message: string,
  variables: string[],
  target = "aarch64",
) {
  using place = await Folder.create();
  const earlier = `${place.path}/datasensor-${target}`;
  await Deno.writeTextFile(earlier, "an earlier executable");
  const flags = [`--target=${target}`, "--output-dir", place.path];
  const run = [Deno.execPath(), "task", "-q", "compile", ...flags];
  const args = ["-u", "DENORT_BIN", ...variables, ...run];
  const { code, stdout, stderr } = await output("env", args);
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

Deno.test("compile rejects an executable for another processor", async () => {
  const { arch } = Deno.build;
  const target = arch === "aarch64" ? "x86_64" : "aarch64";
  await assertFails(
    `The executable is for ${arch}, not for ${target}: set DENORT_BIN to denort for ${target}`,
    [`DENORT_BIN=${Deno.execPath()}`], // denort is made like Deno itself
    target,
  );
});

Deno.test("compile rejects a denort of another version", async () => {
  using folder = await Folder.create();
  const denort = `${folder.path}/denort`;
  const bytes = Buffer.from(await Deno.readFile(Deno.execPath()));
  const { deno } = Deno.version;
  bytes.write("Deno/9", bytes.indexOf(`Deno/${deno}+`));
  await Deno.writeFile(denort, bytes);
  await assertFails(
    `DENORT_BIN is of Deno 9${deno.slice(1)}, and this is Deno ${deno}: ` +
      "set it to denort of the same version",
    [`DENORT_BIN=${denort}`],
    Deno.build.arch,
  );
});

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
