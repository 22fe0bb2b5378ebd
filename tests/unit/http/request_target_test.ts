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
  ["http://localhost:5000/datasensor", undefined, "/datasensor"],
  // Deno hides an invalid Host field
  ["http://localhost:5000/datasensor", NON_ASCII],
  // The target is in absolute form
  ["http://other/datasensor?x", "board", "/datasensor?x"],
  ["http://other/datasensor", "board/x", "/datasensor"], // this Host does no harm
  ["https://[::1]:5000/a/../b", "board", "/a/../b"],
  ["http://other", "board", "/"],
  ["http://%2Fdatasensor?x", "board", "/?x"],
  ["http://user@other/datasensor", "board"],
  ["http://b:80:80/datasensor", "b"],
  ["http://other//datasensor", "board", "//datasensor"],
  ["http://other//datasensor", "board/x"],
  ["http://localhost.example//datasensor", "board^"],
  // The target of CONNECT is an authority
  ["http://a:80", "a:80", "/"],
  // HTTP/2 with :path *
  ["http://board*", undefined, "/"],
];

Deno.test("requestTarget() returns the target of each form of a URL", () => {
  for (const [url, host, target] of URLS) {
    assertEquals(targetOf(url, host), target, `${url} with Host ${host}`);
  }
});

const VALID = ["", "b", "B.7", "-", "%C3%a9", "_~!$&'()*+,;=", "[fe80::1%25e]"];
const INVALID = [...' ?#/\\"@[]^']
  .concat(NON_ASCII, "%zz", "[]", "::1", ":http", ":80:90");
const TARGETS = ["", "datasensor", "/", "?", "/../", "%64", "%", "#", " ", '"'];

Deno.test("requestTarget() returns the target behind a valid Host field only", () => {
  const targets = TARGETS.flatMap((part) => [`/${part}`, `/${part}/${part}`]);
  for (const target of targets) {
    for (const name of VALID) {
      for (const host of [name, `${name}:`, `${name}:80`]) {
        assertEquals(targetOf(`http://${host}${target}`, host), target, host);
      }
    }
    for (const part of INVALID) {
      for (const host of [part, `b${part}`, `${part}b`]) {
        const found = targetOf(`http://${host}${target}`, host);
        assertEquals(found, undefined, host);
      }
    }
  }
});
