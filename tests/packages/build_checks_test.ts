// What the tasks check: whether Deno is too old, or an executable would crash.

import { assertEquals } from "@std/assert";
import { assertDenort, explainDownload } from "../../.tools/denort.ts";
import { fitsLargePages } from "../../.tools/elf.ts";
import { isOlder } from "../../.tools/oldest_deno.ts";
import { Folder } from "../helpers/files.ts";

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

/** What Deno prints as the causes, and what is made of it. */
const CAUSES = {
  "    0: Setting up base binary.\n    1: Bad response: 403\n       \n       No":
    "Bad response: 403; ",
  "    0: Setting up base binary.\n    1: invalid peer certificate: Unknown":
    "invalid peer certificate: Unknown; set DENO_TLS_CA_STORE=system to trust the system's certificates, or ",
  "    Failed to unpack archive.":
    "Failed to unpack archive; run `deno clean` to download it again, or ",
};

Deno.test("explainDownload() shows the last cause, and the remedies", () => {
  for (const [printed, explained] of Object.entries(CAUSES)) {
    const stack = "Stack backtrace:\n   0: <unknown>\n             at ./csu";
    const error = new Error(`Writing\n\nCaused by:\n${printed}\n\n${stack}`);
    assertEquals(
      explainDownload(error, "aarch64").message.split(".zip: ")[1],
      `${explained}unpack a copy and set DENORT_BIN to its denort`,
    );
  }
  const other = new Error("Module not found");
  assertEquals(explainDownload(other, "aarch64"), other);
});

/** What a program contains, and what it is said to be. */
const PROGRAMS = {
  "Deno/2.7.11Deno/2.7.11+6ddbb09": "denort 2.7.11 for x86_64",
  "Deno/2.7.1Deno/2.7.1+6ddbb09": "denort 2.7.1 for x86_64",
  "Deno/0.80.0 Deno/0.80.0": "a program that names no version of Deno",
};

for (const [content, found] of Object.entries(PROGRAMS)) {
  Deno.test(`assertDenort() says that "${content}" is ${found}`, async () => {
    using folder = await Folder.create();
    const file = `${folder.path}/denort`;
    const header = encode([]);
    header[18] = 62; // the processor, x86_64
    await Deno.writeFile(file, header);
    await Deno.writeTextFile(file, content, { append: true });
    const error = await assertDenort(file, "aarch64").catch((it) => it);
    assertEquals(error.message.split(`"${file}" is `)[1], found);
  });
}
