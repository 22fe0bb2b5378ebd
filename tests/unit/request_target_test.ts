import { assertEquals } from "@std/assert";
import {
  rememberTarget,
  type RequestTarget,
} from "../../src/request_target.ts";

const targetOf = rememberTarget((target) => target);

/** Deno.serve hands on what `new Request` would refuse or change. */
function request(url: string, host?: string): Request {
  const headers = new Headers(host === undefined ? {} : { host });
  return { url, headers } as Request;
}

function assertTarget(
  request: Request,
  text: string,
  hasValidHost: boolean,
): void {
  const target: RequestTarget = { text, hasValidHost };
  assertEquals(targetOf(request), target, request.url);
}

const URLS = {
  "http://board/datasensor?x=1": "/datasensor?x=1",
  "http://board/": "/",
  "http://board/*": "/*",
  "https://[::1]:5000/a/../b": "/a/../b",
  "http://board//datasensor": "//datasensor",
  "://board/datasensor": "/datasensor",
  "http:///datasensor": "/datasensor",
  "http://a:80": "a:80",
  "http://q?z": "q?z",
};

for (const [url, target] of Object.entries(URLS)) {
  Deno.test(`rememberTarget() cuts the target out of ${url}`, () => {
    assertTarget(request(url), target, true);
  });
}

const HOSTS = [
  "",
  "b",
  "B.local.",
  "b:80",
  "b:",
  "192.0.2.7:5000",
  "[::1]",
  "[2001:db8::7]:5000",
  "[fe80::1%25eth0]",
  "a%20b",
  "a%C3%a9b",
  "!$&'()*+,;=-._~",
];

const NO_HOSTS = [
  "b x",
  "b?",
  "b#",
  "b\\",
  "b^",
  'b"',
  "b%",
  "b%zz",
  "u@b",
  "::1",
  "[::1",
  "[]",
  "b:80:90",
  "b:http",
  "b\tx",
  "bé",
  "b/",
  "b/x",
  "b/datasensor?",
  "b//",
  "/",
];

for (const host of [...HOSTS, ...NO_HOSTS]) {
  const isHost = HOSTS.includes(host);
  const does = isHost ? "takes" : "refuses";
  Deno.test(`rememberTarget() ${does} the Host ${JSON.stringify(host)}`, () => {
    for (const target of ["/datasensor", "/datasensor?a=/b", "//"]) {
      const latin1 = host.replaceAll("é", "Ã©"); // as Headers shows it
      assertTarget(request(`http://${host}${target}`, latin1), target, isHost);
    }
  });
}

Deno.test("rememberTarget() looks at the first of two Host fields", () => {
  const url = "http://b/datasensor?/x";
  assertTarget(request(url, "b/datasensor?, c"), "/x", false);
  assertTarget(request(url, "b, c/"), "/datasensor?/x", true);
});

Deno.test("rememberTarget() leaves out the Host field beside an absolute target", () => {
  assertTarget(request("http://a/datasensor", "b/x?"), "/datasensor", true);
  assertTarget(request("http://a/x/y", "b/x?"), "/x/y", true);
});

Deno.test("rememberTarget() computes once for urls in a row that are the same", () => {
  let computed = 0;
  const count = rememberTarget(() => ++computed);
  const urls = ["http://b/1", "http://b/1", "http://b/2", "http://b/1"];
  assertEquals(urls.map((url) => count(request(url))), [1, 1, 2, 3]);
});

Deno.test("rememberTarget() tells a Host from a path in the same url", () => {
  const url = "http://b/datasensor?/x";
  for (const _ of [1, 2]) {
    assertTarget(request(url, "b"), "/datasensor?/x", true);
    assertTarget(request(url, "b/datasensor?"), "/x", false);
  }
});
