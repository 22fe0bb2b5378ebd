// The receiver, run as the sensor's unit runs it: bytes in; lines, answers and a log out.
// tests/board has what devices send.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { Machine, testOnMachine } from "../helpers/machine.ts";
import type { Process } from "../helpers/process.ts";

const WORD = "0123456789ab";
const FILES = { "/etc/word": `${WORD}\n`, "/etc/short": "0123456789a\n" };
const RECEIVE = "/usr/lib/datasensor/receive /etc/word";
const test = await testOnMachine("bash", "/usr/bin/python3");

async function start(machine: Machine): Promise<Process> {
  const receiver = machine.startSensor(RECEIVE);
  return await receiver.untilReady(() =>
    machine.typeUntil("curl -sS http://localhost:5001", /^Another word/)
  );
}

/** Runs a script of bash, in which 3 is a connection, and $0 the bytes of printf's %b. */
async function connect(machine: Machine, script: string, bytes = "") {
  const open = "exec 3<>/dev/tcp/127.0.0.1/5001";
  const command = `bash -c '${open}; ${script}' '${bytes}'`;
  return (await machine.type(command)).stdout;
}

const get = (target: string) => `GET /${WORD}/${target} HTTP/1.1\n\n`;
const post = (body: string, lengths: unknown[] = [body.length]) =>
  `POST /${WORD}/k HTTP/1.1\n${
    lengths.map((length) => `content-length: ${length}\n`).join("")
  }\n${body}`;
const text = (size: number) => `{"t":"${"x".repeat(size)}","name":"k"}`;
const LINE = '{"t":1,"name":"k"}';

/** Returns rows of a table: what is sent, the request or its object, and what it prints. */
const rowsOf = (table: string) =>
  Object.fromEntries(
    table.trim().split("\n").map((row) => {
      const text = row.replaceAll("WORD/", `${WORD}/`).replaceAll("\\n", "\n");
      const [what, sent = "", printed] = text.split(" | ");
      const request = sent.includes(" HTTP") ? sent : post(sent);
      return [what, [request, printed] as [string, string]];
    }),
  );

// What devices send, by their documentation or source, with the settings of the guide
const ESP8266 =
  "Host: b:5001\\nUser-Agent: ESP8266HTTPClient\\nConnection: keep-alive\\nAccept-Encoding: identity;q=1,chunked;q=0.1,*;q=0\\n";
const DEVICES = rowsOf(`
ESP8266 | POST /WORD/k HTTP/1.1\\n${ESP8266}Content-Type: application/json\\nContent-Length: 22\\n\\n{"temperature_C":21.5} | {"temperature_C":21.5,"name":"k"}
MicroPython | POST /WORD/k HTTP/1.1\\nHost: b\\nContent-Type: application/json\\nContent-Length: 23\\nConnection: close\\n\\n{"temperature_C": 21.5} | {"temperature_C":21.5,"name":"k"}
Tasmota | GET /WORD/bath/temperature?temperature_C=21.5 HTTP/1.1\\n${ESP8266}\\n | {"temperature_C":21.5,"name":"bath/temperature"}
Tasmota without its sensor | GET /WORD/bath/temperature?temperature_C= HTTP/1.1\\n${ESP8266}\\n | 400
ESPEasy | GET /WORD/bme/Temperature?Temperature=22.69 HTTP/1.1\\nHost: b:5001\\n\\n | {"Temperature":22.69,"name":"bme/Temperature"}
Shelly, first generation | GET /WORD/bath?hum=55&temp=21.50&id=shellyht-F38FC8 HTTP/1.1\\n\\n | {"hum":55,"temp":21.5,"name":"bath"}
Shelly Plus | GET /WORD/bath/humidity?humidity=42.2 HTTP/1.1\\n\\n | {"humidity":42.2,"name":"bath/humidity"}
Ecowitt | POST /WORD/weather HTTP/1.1\\nHOST: b\\nConnection: Close\\nContent-Type: application/x-www-form-urlencoded\\nContent-Length:118 \\n\\nPASSKEY=307826236D0133E06009CE7FAFBBAFC4&stationtype=WH2650A_V1.6.8&dateutc=2021-12-24+11:31:57&tempf=47.8&winddir=261 | {"tempf":47.8,"winddir":261,"name":"weather"}
Weather Underground | GET /WORD/weather?ID=12&PASSWORD=345678&tempf=70.5&winddir=230 HTTP/1.1\\n\\n | {"tempf":70.5,"winddir":230,"name":"weather"}
`);

/** Returns an object with a text for each of some keys, and a number. */
const textsOf = (keys: string) =>
  Object.fromEntries([...keys.split(" ").map((key) => [key, "a"]), ["t", 1]]);

const SECRETS = textsOf(
  "passphrase wifi_passphrase passcode api-key x-api-key secret_key private_key access_key password1 wifi_password2 wifiPass userpass mqtt_pw pw credentials bearer jwt pin wifi_key wpa_key network_key encryption_key auth_key authkey app_key appkey cookie session login wifi_pass user_pass ota_password client_secret authToken basic_auth wpaPsk ssid_pwd token WEPKey PINcode",
);
const TEXTS = textsOf( // a hash names a firmware
  "bypass_state keypad_lockout washerSpinLevel tempIn tempIndoor compass key PWM hashrate turkey hash author passengers",
);

/** Requests, and what each prints: a line, or the status of its refusal. */
const ROWS: Record<string, [request: string, printed: string]> = {
  ...DEVICES,
  ...rowsOf(`
no ? before the query | GET /WORD/k&ID=1&t=1 HTTP/1.1\\n\\n | 400
lost sensors of a station | GET /WORD/k?tempf=-9999&h=-9999.00&dewptf=+-9998.&t=1 HTTP/1.1\\n\\n | ${LINE}
nothing but lost sensors | GET /WORD/k?ID=1&t=-9999.0 HTTP/1.1\\n\\n | 400 Only lost sensors (-9999)
another method | PUT /WORD/k?t=1 HTTP/1.1\\n\\n | 400 Send GET or POST
two slashes | GET //WORD//k?t=1 HTTP/1.1\\n\\n | ${LINE}
no first slash | GET WORD/k?t=1 HTTP/1.1\\n\\n | ${LINE}
a space in the path | GET /WORD/living room?t=1 HTTP/1.1\\n\\n | 400
two spaces behind the path | GET /WORD/k?t=1  HTTP/1.1\\n\\n | 400
secret keys | GET /WORD/k?id=1&SiteID=2&pass=3&passkey=4&passwd=5&Password=6&apiKey=7&my_token=8&siteAuthenticationKey=9&mqtt_pass=9&passengers=9&humidity=10&key_count=11 HTTP/1.1\\n\\n | {"passengers":9,"humidity":10,"key_count":11,"name":"k"}
a query that is not ASCII | GET /WORD/k?room=K%c3%bcche&t=1 HTTP/1.1\\n\\n | ${LINE}
only decimal numbers of a form | GET /WORD/k?a=+1&b=1e3&c=0x1&d=&e=1.&f=%d9%a3&g=-07.50&h=1%0d%0a&i=%2b.5&j=.&k=%1c5 HTTP/1.1\\n\\n | {"a":1,"e":1.0,"g":-7.5,"h":1,"i":0.5,"name":"k"}
a chunked body | POST /WORD/k HTTP/1.1\\ncontent-length: 18\\ntransfer-encoding: chunked\\n\\n${LINE} | 400 Send the body
an object of nulls | {"t":null} | {"t":null,"name":"k"}
secrets of any type | {"wifi_password":"a","mqtt_pass":"b","password":123,"passkey":[4],"Authorization":{"t":5},"apikey":null,"api_key":6,"secret":7,"auth":8,"passwd":9,"t":1} | ${LINE}
secrets at any depth | {"data":{"token":"a"},"list":[{"psk":"b"},{"pwd":"c","t":2}]} | {"list":[null,{"t":2}],"name":"k"}
texts around which is a secret word | {"session":{"user":"a","t":2,"list":["b"]},"t":1} | {"session":{"t":2,"list":[null]},"t":1,"name":"k"}
no secrets | {"id":"a","key":"5","last_key":1,"pins":2,"text":"0042","lost":-9999} | {"id":"a","key":"5","last_key":1,"pins":2,"text":"0042","lost":-9999,"name":"k"}
only secrets | {"data":{"token":"a"}} | 400 No value, or only secrets
a number | 21.5\\n | {"value":21.5,"name":"k"}
a number of a query | GET /WORD/k?-3 HTTP/1.1\\n\\n | {"value":-3,"name":"k"}
nan of C | {"temperature_C":nan} | 400 Invalid: send 21.5
NaN of JavaScript | {"t":NaN} | 400 Invalid: send 21.5
an infinite number | {"t":1e400} | 400 Invalid: send 21.5
a comma for a point | {"t":21,5} | 400 Invalid: send 21.5
a comma at the end | {"t":21.5,} | 400 Invalid: send 21.5
single quotes | {'t':21.5} | 400 Invalid: send 21.5
something behind it | {"t":1}x | 400 Invalid: send 21.5
a number with a comma | 21,5 | 400 No value, or only secrets: send 21.5
a number with its unit | 21.5 C | 400 No value, or only secrets: send 21.5
no number | nan | 400 No value, or only secrets: send 21.5
a text | ON | 400 No value, or only secrets: send 21.5
an array | [21.5] | 400 No value, or only secrets: send 21.5
a form that is not UTF-8 | GET /WORD/k?t=1&x=%ff HTTP/1.1\\n\\n | 400 Invalid: send 21.5
nulls beside secrets | {"t":null,"data":{"token":"a"}} | {"t":null,"name":"k"}
`),
  "a longer word": [get("k?t=1").replace("/k", "x/k"), "404"],
  "texts that are secrets": [post(JSON.stringify(SECRETS)), LINE],
  "other texts": [
    post(JSON.stringify(TEXTS)),
    JSON.stringify({ ...TEXTS, name: "k" }),
  ],
  "many arrays": [post(`{"t":${"[".repeat(2000)}`), "413 Over 200 arrays"],
  "many brackets in a text": [
    post(String.raw`{"t":"\"${"[".repeat(300)}"}`),
    String.raw`{"t":"\"${"[".repeat(300)}","name":"k"}`,
  ],
  "a secret behind a line feed": [
    post(String.raw`{"a\npassword":"x","t":1}`),
    LINE,
  ],
  "200 arrays": [post(`{"t":${"[".repeat(200)}1${"]".repeat(200)}}`), "413"],
  "a length that counts letters": [post("room=K\u00fcche&t=1200"), "400"],
  "HTTP/1.0": [`GET /${WORD}/k?t=1 HTTP/1.0\n\n`, LINE],
  "a whole address": [get("k?t=1").replace(" ", " http://b"), LINE],
  "another request behind it": [get("k?t=1") + get("x?t=2"), LINE],
  "a query beside a body": [post("t=1").replace("/k", "/k?t=2"), LINE],
  "a name of its own": [post('{"t":1,"name":"x"}'), LINE],
  "a name with a slash": [get("a/b%25/?t=1"), '{"t":1,"name":"a/b%"}'],
  "64 characters": [
    get(`${"%c3%bc".repeat(64)}?t=1`),
    `{"t":1,"name":"${"\\u00fc".repeat(64)}"}`,
  ],
  "65 characters": [get(`${"x".repeat(65)}?t=1`), "404"],
  "what looks like a line": [get("%22%7D%0A?t=1"), '{"t":1,"name":"\\"}\\n"}'],
  "a body of 4 KB": [post(LINE.padEnd(4096)), LINE],
  "a body of 60 KB": [post(LINE.padEnd(60_000)), "413"],
  "a line of 4 KB": [post(`{"t":"${"x".repeat(4076)}"}`), text(4076)],
  "a line over 4 KB": [post(`{"t":"${"x".repeat(4077)}"}`), "413"],
  "a head over 4 KB": [get(`k?t=1&${"x".repeat(4096)}`), "413"],
  "no length": [post(LINE, []), "400"],
  "two lengths that are equal": [post("t=1", [3, 3]), LINE],
  "two lengths": [post("t=1", [3, 4]), "400"],
  "a length with a sign": [post("t=1", ["+3"]), "400"],
  "a length of 30 digits": [post("t=1", ["9".repeat(30)]), "413"],
  "a byte-order mark": [post("\ufeff" + LINE, [21]), LINE],
  "TLS": ["\x16\x03\x01", "400 Write http://"],
  "another protocol": ["PRI * HTTP/2.0\n\n", "400"],
};

test("receive prints a line for each request, or says why not", async (step) => {
  await using machine = await Machine.start(FILES);
  await using receiver = await start(machine);
  for (const [what, [request, printed]] of Object.entries(ROWS)) {
    await step.step(what, async () => {
      receiver.stdout = "";
      const bytes = request.replaceAll("\\", "\\\\").replaceAll("\n", "\\r\\n")
        .replaceAll("'", "\\x27");
      const answer = await connect(
        machine,
        'printf %b "$0" >&3; cat <&3',
        bytes,
      );
      const [, status, length, reason = ""] =
        answer.match(/^HTTP.1.1 (\d+) [^]*Length: (\d+)\r\n\r\n([^]*)$/) ?? [];
      const isLine = printed.startsWith("{");
      assertEquals(length, `${reason.length}`);
      assertEquals(receiver.stdout, isLine ? `${printed}\n` : "");
      const start = isLine ? "200 " : printed;
      assertEquals(`${status} ${reason}`.slice(0, start.length), start);
    });
  }
});

test("receive logs what it leaves out, and each cause and name once a minute, 64 at most", async () => {
  await using machine = await Machine.start(FILES);
  await using receiver = await start(machine);
  const paths = ["x/k", WORD, `${WORD}/k`, `${WORD}/k?id=1`, `${WORD}/%22%0A`];
  for (const path of [...paths, `${WORD}/[1-70]`]) {
    const { stdout } = await machine.type(`curl -sS localhost:5001/${path}`);
    assertMatch(stdout, /^(No value, or |Another word, or no name )/);
  }
  const lines = receiver.stderr.trim().split("\n");
  assertEquals(lines.length, 64);
  assertMatch(receiver.stderr, /1: Another word: .*\n.*1: No name of .*\n/);
  assertMatch(receiver.stderr, /1 for "k": No .*\n.*1 for "\\"\\n": No /);
  receiver.stderr = "";
  for (const state of ["door=open", "pin=1&psk=2"]) { // a name once an hour
    await machine.type(`curl -sS "localhost:5001/${WORD}/k?${state}&t=1"`);
  }
  assertMatch(
    receiver.stderr,
    /^receive: Took .*1 for "k": Without secrets, .*: \["door"\]\n$/,
  );
});

test("receive closes the oldest of 64 connections, and each after 10 s", async () => {
  await using machine = await Machine.start(FILES);
  await using receiver = await start(machine);
  const more =
    "for _ in {1..64}; do exec {last}<>/dev/tcp/127.0.0.1/5001; done";
  const slow =
    'while sleep 1; do printf x; done >&"$last" & cat <&"$last"; kill $!';
  const began = performance.now();
  const script = `${more}; cat <&3; echo $SECONDS; ${slow}`;
  assert(Number(await connect(machine, script)) < 9); // before its 10 s are over
  const ms = performance.now() - began;
  assert(9_900 < ms && ms < 40_000, `${ms} ms`); // a machine may be slow
  await receiver.waitForMatch(/^receive: .*: The connection ended first/m);
});

/** Commands that must fail, and what they print. */
const FAILURES: Record<string, RegExp> = {
  "receive /etc/word1": /^receive: .*No such file .*'\/etc\/word1'\n$/,
  "receive /etc/short": /^receive: "\/etc\/short" .* `openssl rand -hex 8`/,
  "receive /etc/word": /^receive: .*in use/,
};

test("receive ends if it cannot listen", async () => {
  await using machine = await Machine.start(FILES);
  await using _receiver = await start(machine);
  for (const [command, message] of Object.entries(FAILURES)) {
    const { code, stdout, stderr } = await machine.type(
      `/usr/lib/datasensor/${command}`,
    );
    assertEquals([code, stdout], [1, ""], command);
    assertMatch(stderr, message);
  }
});
