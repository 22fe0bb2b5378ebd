// The target of a request, for each form of the target and each Host field.

import { assertEquals } from "@std/assert";
import { requestTarget } from "../../../src/http/request_target.ts";

/** "é" as a Host field: in UTF-8, whose bytes Deno reads as Latin-1. */
const NON_ASCII = "Ã©";

/** Deno.serve passes on what `new Request` would reject or change. */
function targetOf(url: string, host?: string): string | undefined {
  const headers = new Headers(host === undefined ? {} : { host });
  return requestTarget({ url, headers } as Request);
}

const URLS: [url: string, host: string | undefined, target?: string][] = [
  ["http://board/datasensor?x=1", "board", "/datasensor?x=1"],
  ["http://board//a/../b?/c", "board", "//a/../b?/c"],
  ["http://localhost:5000/datasensor", undefined, "/datasensor"],
  // Deno hides an invalid Host field
  ["http://localhost:5000/datasensor", NON_ASCII],
  // The target is in absolute form
  ["http://other/datasensor?x", "board", "/datasensor?x"],
  ["https://[::1]:5000/a/../b", "board", "/a/../b"],
  ["http://other", "board", "/"],
  ["http://%2Fdatasensor?x", "board", "/?x"],
  ["http://user@other/datasensor", "board"],
  ["http://user@other/datasensor", "user"],
  ["http://b:80:80/datasensor", "b"],
  ["http://other//datasensor", "board", "//datasensor"],
  ["http://other//datasensor", "board/x"],
  ["http://localhost.example//datasensor", "board^"],
  // The target of CONNECT is an authority
  ["http://a:80", "a:80", "/"],
  // HTTP/2 with :path *
  ["http://board*", undefined, "/"],
  ["http://board*", "board", "/"],
  // The Host field, or the start of the absolute form, is x/y
  ["http://x/y/datasensor", "x/y"],
];

for (const [url, host, target] of URLS) {
  const name = `${url} with Host ${JSON.stringify(host)}`;
  Deno.test(`requestTarget() returns ${target} for ${name}`, () => {
    assertEquals(targetOf(url, host), target);
  });
}

const VALID = [
  "",
  "B.local.",
  "b:80",
  "b:",
  "a%C3%a9b",
  "!$&'()*+,;=-._~",
  "[::1]:80",
  "[fe80::1%25eth0]",
];
const INVALID = [
  "b x",
  "b?",
  "b#",
  "b\\",
  'b"',
  `b${NON_ASCII}`,
  "b%zz",
  "u@b",
  "b, c",
  "::1",
  "[]",
  "b:80:90",
  "b:http",
  "b/",
  "b/datasensor?",
  "/",
];

for (const host of [...VALID, ...INVALID]) {
  const isValid = VALID.includes(host);
  const verb = isValid ? "accepts" : "rejects";
  Deno.test(`requestTarget() ${verb} the Host ${JSON.stringify(host)}`, () => {
    for (const target of ["/datasensor", "/datasensor?a=/b", "//"]) {
      const expected = isValid ? target : undefined;
      assertEquals(targetOf(`http://${host}${target}`, host), expected);
    }
  });
}

Deno.test("requestTarget() finds the same target on its fast path", () => {
  // Only the first host is one that the fast path knows
  for (const host of ["board:5000", "b~ard:5000"]) {
    for (const target of ["/", "/datasensor", "/x?y=1#z", "/%64%", '/a b"']) {
      assertEquals(targetOf(`http://${host}${target}`, host), target);
    }
  }
});
