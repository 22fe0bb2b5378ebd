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
const OPEN = "[".repeat(198);
const SHUT = "]".repeat(199);
const DEEP = `{"t":"\\"${OPEN}","x":[${"[],".repeat(200)}${OPEN}${SHUT}`;
const text = (size: number) => `{"t":"${"x".repeat(size)}","name":"k"}`;
const LINE = '{"t":1,"name":"k"}';
const NO_VALUE = "400 No value: with Content-Length, send a number";
const NOT_JSON = "400 Not UTF-8, or not JSON: send 21.5 instead of 21,5";

/** Returns rows of a table: what is sent, the request or its object, and what it prints. */
const rowsOf = (table: string) =>
  Object.fromEntries(
    table.trim().split("\n").map((row) => {
      const text = row.replaceAll("WORD/", `${WORD}/`).replaceAll("\\n", "\n");
      const [what, sent = "", printed] = text.split(" | ");
      const request = sent.includes(" HTTP/") ? sent : post(sent);
      return [what, [request, printed] as [string, string]];
    }),
  );

// What devices send, by their documentation or source, with the settings of the guide
const ESP8266 =
  "Host: b:5001\\nUser-Agent: ESP8266HTTPClient\\nConnection: keep-alive\\nAccept-Encoding: identity;q=1,chunked;q=0.1,*;q=0\\n";
const DEVICES = rowsOf(`
ESP8266 | POST /WORD/k HTTP/1.1\\n${ESP8266}Content-Type: application/json\\nContent-Length: 22\\n\\n{"temperature_C":21.5} | {"temperature_C":21.5,"name":"k"}
Tasmota | GET /WORD/bath/temperature?temperature_C=21.5 HTTP/1.1\\n${ESP8266}\\n | {"temperature_C":21.5,"name":"bath/temperature"}
Tasmota without its sensor | GET /WORD/bath/temperature?temperature_C= HTTP/1.1\\n${ESP8266}\\n | 400
ESPEasy | GET /WORD/bme/Temperature?Temperature=22.69 HTTP/1.1\\nHost: b:5001\\n\\n | {"Temperature":22.69,"name":"bme/Temperature"}
Shelly, first generation | GET /WORD/bath?hum=55&temp=21.50&id=shellyht-F38FC8 HTTP/1.1\\n\\n | {"hum":55,"temp":21.5,"name":"bath"}
Ecowitt | POST /WORD/weather HTTP/1.1\\nHOST: b\\nConnection: Close\\nContent-Type: application/x-www-form-urlencoded\\nContent-Length:118 \\n\\nPASSKEY=307826236D0133E06009CE7FAFBBAFC4&stationtype=WH2650A_V1.6.8&dateutc=2021-12-24+11:31:57&tempf=47.8&winddir=261 | {"tempf":47.8,"winddir":261,"name":"weather"}
Weather Underground | GET /WORD/weather?ID=12&PASSWORD=345678&tempf=70.5&winddir=230 HTTP/1.1\\n\\n | {"tempf":70.5,"winddir":230,"name":"weather"}
`);

/** Requests, and what each prints: a line, or the status of its refusal. */
const ROWS: Record<string, [request: string, printed: string]> = {
  ...DEVICES,
  ...rowsOf(`
no ? before the query | GET /WORD/k&ID=1&t=1 HTTP/1.1\\n\\n | 400
lost sensors of a station | GET /WORD/k?tempf=-9999&h=-9999.00&dewptf=+-9998.&t=1 HTTP/1.1\\n\\n | ${LINE}
nothing but lost sensors | GET /WORD/k?ID=1&t=-9999.0&u=C HTTP/1.1\\n\\n | 400 Only lost sensors (-9999), texts, ids or secrets: "ID, t, u"
another method | PUT /WORD/k?t=1 HTTP/1.1\\n\\n | 400 Send GET or POST
two slashes | GET //WORD//k?t=1 HTTP/1.1\\n\\n | ${LINE}
no first slash | GET WORD/k?t=1 HTTP/1.1\\n\\n | ${LINE}
a space in the path | GET /WORD/living room?t=1 HTTP/1.1\\n\\n | 400
two spaces behind the path | GET /WORD/k?t=1  HTTP/1.1\\n\\n | 400
secret keys | GET /WORD/k?id=1&SiteID=2&pass=3&passkey=4&passwd=5&Password=6&apiKey=7&my_token=8&siteAuthenticationKey=9&mqtt_pass=9&passengers=9&humidity=10&key_count=11 HTTP/1.1\\n\\n | {"passengers":9,"humidity":10,"key_count":11,"name":"k"}
a query that is not ASCII | GET /WORD/k?room=K%c3%bcche&x=ü&t=1 HTTP/1.1\\n\\n | ${LINE}
only decimal numbers of a form | GET /WORD/k?a=+1&b=1e3&c=0x1&d=&e=1.&f=%d9%a3&g=-07.50&h=1%0d%0a&i=%2b.5&j=.&k=%1c5 HTTP/1.1\\n\\n | {"a":1,"e":1.0,"g":-7.5,"h":1,"i":0.5,"name":"k"}
a chunked body | POST /WORD/k HTTP/1.1\\ncontent-length: 18\\ntransfer-encoding: chunked\\n\\n${LINE} | 400 Send the body
a number | POST /WORD/k HTTP/1.1\\nContent-Length: 8\\n\\n -21.50\\n | {"value":-21.5,"name":"k"}
a length that counts letters | room=Küche&t=1200 | 400 Not ASCII: send numbers without units
a form in Latin-1 | GET /WORD/k?t=1&x=%b0 HTTP/1.1\\n\\n | ${NOT_JSON}
an object of nulls | {"t":null,"data":{"token":null}} | {"t":null,"name":"k"}
secrets | {"passphrase":"042","wifi_passphrase":"042","passcode":"042","api-key":"042","x-api-key":"042","secret_key":"042","private_key":"042","access_key":"042","password1":"042","wifi_password2":"042","wifiPass":"042","userpass":"042","mqtt_pw":"042","pw":"042","credentials":"042","bearer":"042","jwt":"042","pin":"042","wifi_key":"042","wpa_key":"042","network_key":"042","encryption_key":"042","auth_key":"042","authkey":"042","app_key":"042","appkey":"042","cookie":"042","session":"042","sessionId":"042","login":"042","wifi_pass":"042","user_pass":"042","ota_password":"042","client_secret":"042","authToken":"042","basic_auth":"042","wpaPsk":"042","ssid_pwd":"042","token":"042","passkey":"042","PIN_CODE":"042","mqttPassword":"042","APIKEY":"042","AppSKey":"042","oauth2":"042","key1":"042","lobby_pass":"042","mqtt_pass":1,"password":2,"passphrase1":3,"passkey":[4],"Authorization":{"t":5},"apikey":null,"api_key":6,"secret":7,"auth":8,"passwd":true,"t":1} | ${LINE}
no secrets, such as a firmware's hash | {"bypass_state":"042","heatByPass":"042","keypad_lockout":"042","washerSpinLevel":"042","tempIn":"042","tempIndoor":"042","compass":"042","PWM":"042","hashrate":"042","turkey":"042","monkey":"042","key":"042","passenger":"042","authority":"042","keyboard":"042","lamps_kitchen":"042","hash":"0","last_key":1,"pin":2,"login":true,"bypass":3,"tokens":4,"list":[]} | {"bypass_state":"042","heatByPass":"042","keypad_lockout":"042","washerSpinLevel":"042","tempIn":"042","tempIndoor":"042","compass":"042","PWM":"042","hashrate":"042","turkey":"042","monkey":"042","key":"042","passenger":"042","authority":"042","keyboard":"042","lamps_kitchen":"042","hash":"0","last_key":1,"pin":2,"login":true,"bypass":3,"tokens":4,"list":[],"name":"k"}
secrets at any depth | {"data":{"token":"a"},"list":[{"psk":"b"},{"pwd":"c","t":2}],"session":[{"id":"d","t":-9999}],"jwts":["e"]} | {"list":[null,{"t":2}],"session":[{"t":-9999}],"name":"k"}
only secrets | {"data":{"token":"a","pin":[{"id":"b"}]}} | 400 Only secrets, by their keys: "token, pin"
many arrays | {"t":${OPEN.repeat(10)} | 413 Over 200 arrays
200 arrays | {"t":[[${OPEN}1${SHUT}]} | 413 Over 200 arrays
other brackets | ${DEEP}} | ${DEEP},"name":"k"}
`),
  "a longer word": [get("k?t=1").replace("/k", "x/k"), "404"],
  ...rowsOf(
    `21.5\ufffdC {"t":"\ufffd"} {"t":nan} {"t":NaN} {"t":1e400} {"t":21,5} {"t":1,} {'t':1}`
      .replace(/\S+/g, `$& | $& | ${NOT_JSON}\n`),
  ),
  ...rowsOf('21,5 nan 21.5C ON [21.5] "21.5" null t=warm {"name":"x"}'
    .replace(/\S+/g, `$& | $& | ${NO_VALUE}\n`)),
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
        .replaceAll("'", "\\x27").replaceAll("\ufffd", "\\xb0"); // a ° in Latin-1
      const script = 'printf %b "$0" >&3; cat <&3';
      const answer = await connect(machine, script, bytes);
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

test("receive logs each cause and name once, and 64 at most", async () => {
  await using machine = await Machine.start(FILES);
  await using receiver = await start(machine);
  const paths = ["x/k", WORD, `${WORD}/k`, `${WORD}/k?t=x`, `${WORD}/%22%0A`];
  paths.push(`${WORD}/k?t=1\\&PASSKEY=042`, `${WORD}/k?t=1\\&x=042a`);
  for (const path of [...paths, `${WORD}/[1-70]`]) {
    const { stdout } = await machine.type(`curl -sS localhost:5001/${path}`);
    assertMatch(stdout, /^(No value: |Another word, or no name |$)/);
  }
  const lines = receiver.stderr.trim().split("\n");
  assertEquals(lines.length, 64 + 1);
  assertMatch(receiver.stderr, /Left out of .* "k": lost .*: "PASSKEY"\n/);
  assertMatch(receiver.stderr, /1: Another word: .*\n.*1: No name of .*\n/);
  assertMatch(receiver.stderr, /1 for "k": No .*\n.*1 for "\\"\\n": No /);
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
