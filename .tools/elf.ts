// Reads executables: for which processor one is, which Deno runs it, and whether it can
// run on every ARM kernel, whatever the size of its memory pages.

import { Buffer } from "node:buffer";

/** The largest memory page of a 64-bit ARM processor. */
const PAGE_BYTES = 64 * 1024;

/** The type of a segment that the kernel maps. */
const PT_LOAD = 1;

/** The processors for which the tasks compile, by their number in an ELF file. */
const PROCESSORS: Record<number, string> = { 62: "x86_64", 183: "aarch64" };

/**
 * Returns whether an executable can be mapped with pages of 64 KB, and so with
 * those of 16 and 4 KB: offset and address of each segment must be equal modulo
 * the page size, and no two segments may share a page.
 *
 * @param bytes A 64-bit, little-endian ELF file, or its beginning.
 */
export function fitsLargePages(bytes: Uint8Array): boolean {
  const segments = readSegments(viewElf(bytes))
    .toSorted((first, second) => first.address - second.address);
  return segments.every(({ offset, address }, index) => {
    const previousEnd = segments[index - 1]?.endAddress ?? 0;
    const pageStart = address - address % PAGE_BYTES;
    return offset % PAGE_BYTES === address % PAGE_BYTES &&
      previousEnd <= pageStart;
  });
}

/** Returns the name of the processor that an ELF file is for. */
export function readProcessor(bytes: Uint8Array): string {
  const machine = viewElf(bytes).getUint16(18, true); // e_machine
  return PROCESSORS[machine] ?? "another processor";
}

/**
 * Returns the version of the Deno in an executable, if it is found: among its texts is
 * Deno's name for itself with its commit, such as `Deno/2.9.6+e518fbd`.
 */
export function readDenoVersion(bytes: Uint8Array): string | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const start = "Deno/";
  let index = buffer.indexOf(start);
  while (index >= 0) {
    const text = buffer.toString("latin1", index, index + 30);
    const [, version] = text.match(/^Deno\/(\d+\.\d+\.\d+)\+[\da-f]{7}/) ?? [];
    if (version) return version;
    index = buffer.indexOf(start, index + 1);
  }
}

/** Returns where the parts of an ELF file are, and where they are mapped. */
function readSegments(view: DataView) {
  const start = Number(view.getBigUint64(32, true)); // e_phoff
  const size = view.getUint16(54, true); // e_phentsize
  const count = view.getUint16(56, true); // e_phnum
  return Array.from({ length: count }, (_, index) => start + index * size)
    .filter((header) => view.getUint32(header, true) === PT_LOAD)
    .map((header) => {
      const offset = Number(view.getBigUint64(header + 8, true)); // p_offset
      const address = Number(view.getBigUint64(header + 16, true)); // p_vaddr
      const length = Number(view.getBigUint64(header + 40, true)); // p_memsz
      return { offset, address, endAddress: address + length };
    });
}

/** Returns a view of a 64-bit, little-endian ELF file. */
function viewElf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
