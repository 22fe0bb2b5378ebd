// What the tasks check: whether Deno is too old, or an executable would crash.

import { assertEquals, assertThrows } from "@std/assert";
import { fitsLargePages } from "../../.tools/elf.ts";
import { isTooOld } from "../../.tools/oldest_deno.ts";

const PT_LOAD = 1;
const PT_NOTE = 4;

type Segment = [offset: number, address: number, size: number, type?: number];

/** Encodes the headers of an ELF file with these segments. */
function encode(...segments: Segment[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(64 + 56 * segments.length));
  view.setUint32(0, 0x7f454c46); // "\x7fELF"
  view.setUint16(4, 0x0201); // 64 bits, little-endian
  view.setBigUint64(32, 64n, true); // offset of the program headers
  view.setUint16(54, 56, true); // size of each header
  view.setUint16(56, segments.length, true); // number of headers
  for (const [index, segment] of segments.entries()) {
    const [offset, address, size, type = PT_LOAD] = segment;
    const start = 64 + 56 * index;
    view.setUint32(start, type, true);
    view.setBigUint64(start + 8, BigInt(offset), true);
    view.setBigUint64(start + 16, BigInt(address), true);
    view.setBigUint64(start + 40, BigInt(size), true);
  }
  return new Uint8Array(view.buffer);
}

/** The segments of denort 2.7.11 for aarch64. */
const DENORT: Segment[] = [
  [0x0, 0x0, 0x26f7b78],
  [0x2700000, 0x2710000, 0x2d35200],
  [0x5435200, 0x5455200, 0x1e6e00],
  [0x561b2a8, 0x564b2a8, 0x7b868],
];

Deno.test("isTooOld() compares versions by their numbers", () => {
  const old = ["1.46.3", "2.7.11", "2.8.2", "2.7.0-rc.1"];
  const supported = ["2.8.3", "2.8.10", "2.10.0", "3.0.0"];
  assertEquals([...old, ...supported].filter(isTooOld), old);
});

const LAYOUTS: [what: string, fits: boolean, ...Segment[]][] = [
  ["output of Deno 2.7.11", true, ...DENORT],
  ["output of Deno 2.9.6", true, ...DENORT, [0x5864000, 0x5864000, 0x17ca0c]],
  ["segments in reverse order", true, DENORT[1]!, DENORT[0]!],
  ["output of Deno 2.9.1", false, ...DENORT, [0x5864000, 0x56c7000, 0x17ca0c]],
  ["an offset 32 KB off its address", false, [0, 0x8000, 1]],
  ["segments in two pages", true, [0, 0, 0x10000], [0x18000, 0x18000, 1]],
  ["segments that share a page", false, [0, 0, 0x10001], [0x18000, 0x18000, 1]],
  ["a note whose offset differs from its address", true, [1, 0, 0, PT_NOTE]],
];

for (const [what, fits, ...segments] of LAYOUTS) {
  const verb = fits ? "accepts" : "rejects";
  Deno.test(`fitsLargePages() ${verb} ${what}`, () => {
    assertEquals(fitsLargePages(encode(...segments)), fits);
  });
}

Deno.test("fitsLargePages() throws if the file is not a 64-bit ELF file", () => {
  for (const text of ["#ELF\x02\x01", "\x7fELF\x01\x01", "\x7fELF\x02\x02"]) {
    const bytes = new TextEncoder().encode(text);
    assertThrows(() => fitsLargePages(bytes), Error, "Not a 64-bit");
  }
});
