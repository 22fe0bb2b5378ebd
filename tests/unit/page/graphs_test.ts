// The functions of the page that need no browser.

import { assertEquals, assertThrows } from "@std/assert";
import * as graphs from "../../../src/page/graph.js";
import { PAGE, PAGE_POLICY } from "../../../src/page/page.ts";
import * as values from "../../../src/page/values.js";
import { writeCsv } from "./answers.ts";

Deno.test("the scripts of the page have one scope, in which no name is declared twice", () => {
  const [, script] = PAGE.match(/<script[^>]*>(.*)<\/script>/s)!;
  const parse = (script: string) =>
    new Function(`"use strict"; {${script.replace(/^export /gm, "")}}`);
  parse(script!);
  assertThrows(() => parse(`${script} const walk = 1;`), SyntaxError);
});

/** Values of a reading, or a last one: id, name, unit, kind, and what they are or were. */
const list = (reading: unknown, name?: string, last?: unknown) =>
  Array.from(
    values.listValues({ name, reading, last }).values(),
    ({ id, name, unit, kind, value, last }) =>
      [id, name, unit, kind, `${value}`, `${last}`].join("|"),
  );

Deno.test("listValues() lists what a reading has in its order, or what a last one had", () => {
  const rows = [" a%3A b: t_C|t|°C|number", " a%3A b: on|on||boolean"];
  const reading = { "t_C": 1, on: true };
  const texts = list(reading, "a: b");
  assertEquals(texts, [`${rows[0]}|1|undefined`, `${rows[1]}|true|undefined`]);
  const were = list(undefined, "a: b", reading);
  assertEquals(were, [`${rows[0]}|undefined|1`, `${rows[1]}|undefined|true`]);
  assertEquals(list(undefined), []);
});

Deno.test("listValues() leaves out the texts that the name of the sensor has", () => {
  const reading = { model: "a/b", channel: 1, id: "42", text: "b" };
  const shown = list(reading, "a%2Fb/1/42").map((text) => text.split("|")[4]);
  assertEquals(shown, ["1", "42", "b"]);
});

Deno.test("listValues() ends at ten objects, at a path of 400 characters, and after 2000 values", () => {
  const nest = (depth: number): unknown => depth ? { a: nest(depth - 1) } : 1;
  const last = (depth: number) => list(nest(depth))[0]!.split("|")[4];
  assertEquals([last(10), last(11)], ["1", "…"]);
  const inner = Array(2200).fill(1);
  const hidden = { a: { ["k".repeat(30_000)]: inner } };
  assertEquals([list(hidden).length, list(inner).length], [1, 2001]);
});

const LONG = "_deg".padStart(101, "x"); // no pattern takes long
/** Keys with their names and units, or without, and whether they are directions. */
const UNITS =
  `temperature_C=temperature|°C temp1_F=temp1|°F temperature_2_C=temperature 2|°C
t_C=t|°C attempt_C=attempt C| dew_point_C=dew point|°C windchill_F=windchill|°F C=C|
battery_V=battery|V voltage_1_V=voltage 1|V gain_V=gain V| current_A=current|A
class_A=class A| power_W=power|W power_kW=power|kW zone_W=zone W| battery_mV=battery|mV
pressure_hPa=pressure|hPa rain_mm=rain|mm rain_rate_mm_h=rain rate|mm/h wind_avg_km_h=wind avg|km/h
wind_m_s=wind|m/s wind_dir_deg=wind dir|°|direction depth_cm=depth|cm height_m=height|m co2_ppm=co2|ppm
soil_percent=soil|% light_lux=light|lux energy_kWh=energy|kWh humidity=humidity|%
Temperature_C=Temperature|°C aussentemperatur_C=aussentemperatur|°C température_C=température|°C
outdoorTemp_F=outdoorTemp|°F current_mA=current|mA rssi_dBm=rssi|dBm pressure_mbar=pressure|mbar
wind_mph=wind|mph frequency_Hz=frequency|Hz f_kHz=f|kHz f_MHz=f|MHz power_VA=power|VA path_km=path|km
tank_L=tank|L pm25_ug_m3=pm25|µg/m³ Humidity=Humidity|% wheat_C=wheat C| t_c=t c| soil_moisture=soil moisture|% absolute_humidity=absolute humidity| humidity_1=humidity 1|
pressure_HPA=pressure HPA| battery_ok=battery ok| volume_m3=volume|m³ solar_W_m2=solar|W/m² gas_ohm=gas|Ω
acceleration_m_s2=acceleration|m/s² target_C=target|°C current_C=current|°C winddir=winddir|°|direction t_degC=t degC| old_deg=old|°|direction ${LONG}=${LONG}|`;

Deno.test("listValues() knows the units that keys end with, and no wrong ones", () => {
  const rows = UNITS.split(/[\n ](?=\S+=)/).map((row) => row.split("="));
  const shown = rows.map(([key]) => {
    const listed = list({ [key!]: 1 })[0]!.split("|").slice(1, 4).join("|");
    return [key, listed.replace("|number", "")];
  });
  assertEquals(shown, rows);
});

/** Values, the decimals that they had, and their texts. */
const TEXTS: [value: unknown, decimals: number, text: string][] = [
  [21, 1, "21.0"],
  [true, 1, "yes"],
  [0.30000000000000004, 9, "0.300000000"],
  [52.520008, 0, "52.520008"],
  [123456.7, 3, "123456.700"],
  [1234567.8912, 3, "1234567.89"],
  [123456789012.5, 3, "123456789013"],
  [1e15, 0, "1e+15"],
  [-1e300, 2, "−1e+300"],
  [-0.00012345678, 2, "−0.00012345678"],
  [1e-7, 3, "1e−7"],
  ["21.5", 2, '"21.5"'],
  ["x".repeat(201), 0, `${"x".repeat(200)}…`],
];

Deno.test("formatValue() has nine digits, and as many decimals as a number has had", () => {
  for (const [value, decimals, text] of TEXTS) {
    assertEquals(values.formatValue(value, decimals), text);
  }
});

Deno.test("parseSensors() takes whatever a proxy makes of names, times and ages", () => {
  const parsed = values.parseSensors(
    '[{"name":0,"time":5,"age":"3","last":7},{"name":{},"age":9e9},{"name":null,"time":"t","age":86400000},{"name":"\\ud800","age":-1}]',
  );
  assertEquals(parsed.map((sensor) => Object.values(sensor)), [
    ["0", "", NaN, undefined, 7],
    ["[object Object]", "", NaN, undefined, undefined],
    ["", "t", 86_400_000, undefined, undefined],
    ["\ufffd", "", NaN, undefined, undefined],
  ]);
});

const MINUTE = 60_000;
const NOON = +new Date(2026, 10, 26, 12); // where this machine is

/** Replaces times by minutes since noon. */
const count = (text: string) =>
  [-10, -8, -5, -2, -1, 0, 1, 2, 3, 5, 7, 9].reduce((text, minute) => {
    const time = graphs.formatTime(NOON + minute * MINUTE);
    return text.replaceAll(time, `${minute}`);
  }, text);

Deno.test("parseHistory() reads hostile names, gaps and decimals", () => {
  const header = 'time,"min a,""b\r\n: t","mean","max",min,mean,max\r\n';
  const time = new Date(NOON).toISOString();
  const { series, end } = graphs.parseHistory(
    `${header}${time},1,1.25,1.5,,,\r\n`,
  );
  const numbers = { low: 1, mean: 1.25, high: 1.5 };
  const spans = [{ start: NOON - 5 * MINUTE, end: NOON, ...numbers }];
  assertEquals([end, ...series], [
    NOON,
    [' a,"b\r\n: t', { spans, decimals: 1 }],
    ["", { spans: [], decimals: 0 }],
  ]);
});

/**
 * Returns the graphs of rows of the history, the last of which ends at noon, after each point
 * that the page sees, `second=number`.
 */
function draw(rows: string, points: string, kind: values.Kind = "number") {
  const csv = writeCsv(NOON, [""], rows.split(" ").filter(Boolean));
  const series = graphs.parseHistory(csv).series.get("")!;
  let seen: graphs.Span[] = [];
  return points.split(" ").map((point) => {
    const [second, number] = point.split("=");
    const now = NOON + 1000 * Number(second);
    const value = number ? JSON.parse(number) : undefined;
    seen = graphs.addPoint(seen, value, now);
    const unit = { number: "°C", direction: "°", boolean: "" }[kind];
    return graphs.createGraph(series, seen, { decimals: 0, kind, unit }, now);
  });
}

/** What is drawn: rows, points, a kind, and the line and band (x: 0 to 600) and the summary. */
const GRAPHS = `no line of less than a minute: ; 0=7 59=8; number; none
a line of a minute: ; 0=7 60=8; number; M480,57h0L600,44h0; ; low 7 at 0, high 8 at 1
points of nine minutes, with a gap: ; 0=7 540=8; number; M0,57h0M600,44h0; ; low 7 at 0, high 8 at 9
no point of ten minutes ago, which a slot covers: ; 0=7 601=8; number; none
points before the last slot, which lacks the number: ,, ,,; -120=7 60=8; number; M240,57h0L600,44h0; ; low 7 at -2, high 8 at 1
no point after now, once the clock was set back: ; 0=1 60=1 -90=7 -30=8; number; M480,57h0L600,44h0; ; low 7 at -2, high 8 at -1
a new number at once: 1,2,3; 61=2 62=9; number; M246,73h0L593,27h0; M0,78H492V60H0ZM592,73H593V22H592Z; low 1 at 0, high 9 at 1
no point that the last slot has: 1,2,3; 0=9 60=2; number; M250,50h0L600,50h0; M0,76H500V24H0Z; low 1 at 0, high 3 at 0
a line to a point while the next slot is late: 5,5,5; 330=6; number; M143,57h0L600,44h0; ; low 5 at 0, high 6 at 5
no line to a point five minutes and a half after a slot: 5,5,5; 331=6; number; M142,57h0M595,44h0; ; low 5 at 0, high 6 at 5
a gap before the first point, without the last slot: 1,2,3 1,2,3 ,,; 60=5 120=4; number; M88,66h0L265,66h0M582,34h0; M0,78H176V53H0ZM176,78H353V53H176ZM565,40H600V27H565Z; low 1 at -10, high 5 at 2
no gap after one answer without the number, and one point for each time: 1,1,1; 60=1 65= 70=1 70=1 75=1; number; M238,50h0L583,50h0; ; no change
a false reading, which does not flatten the day: 20,20,20 20,20.2,85 20,20,20; 60=20; number; M94,51h0L281,49h0L469,51h0L600,51h0; M188,51H375V22H188Z; low 20 at -10, high 85 at -5
the largest numbers, whose difference is infinite: -1.7e308,0,1.7e308; 60=0; number; M250,50h0L600,50h0; M0,78H500V22H0Z; low −1.7e+308 at 0, high 1.7e+308 at 0
a setpoint that falls, on all of its scale: ; 0=21 300=16; number; M0,24h0L600,76h0; ; low 16 at 5, high 21 at 0
whole numbers one apart, which are no mountain: ; 0=87 300=86; number; M0,43h0L600,56h0; ; low 86 at 5, high 87 at 0
numbers with an exponent: ; 0=4e-9 300=5.2e-9; number; M0,56h0L600,44h0; ; low 4e−9 at 0, high 5.2e−9 at 5
the smallest number above zero: 0,0,5e-324; 60=0; number; M250,50h0L600,50h0; ; low 0 at 0, high 5e−324 at 0
a direction from -180 to 180°: -10,0,10 -100,270,-80; 60=-170; direction; M136,50h0L409,63h0L600,75h0; ; scale −180° to 180°
no line from a direction to one over north: 340,350,359 0,5,20 6,9,12; 60=2; direction; M94,25h0M281,75h0L469,75h0L600,76h0; ; scale 0° to 360°
a boolean that changes between points: 0,0,0 0,0.4,1 1,1,1; 60=true 61=false 120=false; boolean; M0,76H176h0H176V76V24V76V76H353h0H353V24H529h0H565V24H565h0H600V76H600h0; M176,76H353V24H176Z; no since 1
a boolean that is known again: 0,0,0 ,, 1,1,1; 60=true 65=; boolean; M0,76H186h0M373,24H559h0H596V24H596h0; ; yes since -5
a boolean that does not change: 1,1,1; 60=true; boolean; M0,24H500h0H600V24H600h0; ; no change
a boolean that died in a slot with both: 0,0,0 0,0.6,1; 60=; boolean; M0,76H273h0H273V24V24V76V24H545h0; M273,76H545V24H273Z; yes, no since -5`;

/** Returns the line of a graph, its band without what has no area, and its summary. */
function read(graph: graphs.Graph | undefined): string {
  const { line, band } = graph?.paths ?? {};
  const area = band?.replace(/M(\d+),(\d+)(?:H\1V\d+|H\d+V\2)H\1Z/g, "");
  return graph ? count(`${line}; ${area}; ${graph.full}`) : "none";
}

for (const graph of GRAPHS.split("\n")) {
  const [, what, row] = graph.match(/^([^:]+): (.*)$/)!;
  Deno.test(`createGraph() draws ${what}`, () => {
    const [rows, points, kind, ...shown] = row!.split("; ");
    const graphs = draw(rows!, points!, kind as values.Kind);
    assertEquals(read(graphs.at(-1)), shown.join("; "));
  });
}

Deno.test("createGraph() moves by a pixel, and at once where a number changes it", () => {
  const day = "0,1,2 ".repeat(288);
  const countGraphs = (points: string, rows = day) =>
    new Set(draw(rows, points).map((it) => JSON.stringify(it?.paths))).size;
  assertEquals(countGraphs("61=1 66=1 71=1"), 1);
  assertEquals(countGraphs("61=1 62=9 63=-9"), 3);
  assertEquals(countGraphs("61=1 361=1"), 2);
  assertEquals(countGraphs("61=1 62=0 63=1", "0,0,1"), 3);
});

Deno.test("createGraph() shows the last day", () => {
  const rows = "1,1,1 9,9,9" + " 5,5,5".repeat(286);
  const [low, high] = [1425, 1430].map((minutes) =>
    graphs.formatTime(NOON - minutes * MINUTE, NOON) // of yesterday
  );
  const { full } = draw(rows, "150=5")[0]!;
  assertEquals(full, `low 5 at ${low}, high 9 at ${high}`);
});

Deno.test("createGraph() has dots at its low and its high, and says these in its range", () => {
  const { brief, paths } = draw("5,5,5 1,2,2 8,8,9 5,5,5", "60=5")[0]!;
  assertEquals([brief, paths.dots], ["1 to 9", "M214,78h0M357,22h0"]);
});

Deno.test("formatTime() has the day of what is not of today by the calendar, and then the date", () => {
  const weekday = { weekday: "short" } as const;
  const date = { month: "short", day: "numeric" } as const;
  for (
    const [time, now, style] of [
      ["28T00:00", "28T23:59", {}],
      ["27T23:50", "28T00:10", weekday],
      ["26T12:05", "28T12:00", weekday],
      ["20T05:06", "28T05:06", date],
    ] as const
  ) {
    const [then, there] = [time, now].map((it) => new Date(`2026-11-${it}`));
    const whole = { ...style, hour: "numeric", minute: "2-digit" } as const;
    const text = then!.toLocaleString([], whole);
    assertEquals(graphs.formatTime(+then!, +there!), text);
  }
});

/** Places of a graph, from 0 to 1000, and what it had there. */
const PLACES = `0=2.3_°C
300=no reading
450=4_°C
660=5_°C
770=no reading
917=6_°C
1000=no reading`;

Deno.test("readGraph() tells what a number was at a time, and its place, or that there is none", () => {
  const read = (graph: graphs.Graph | undefined, place: number) => {
    const { start, end } = graph!;
    const time = start + (end - start) * place / 1000;
    const read = graphs.readGraph(graph!, time);
    assertEquals(Math.round(1000 * read.place), place);
    return `${read.text}${read.small}`.replace("\u00a0", "_");
  };
  const graph = draw("1,2.34,3 ,, 4,4,4", "60=5 420=6 540=").at(-1);
  for (const row of PLACES.split("\n")) {
    const [place, text] = row.split("=");
    assertEquals(read(graph, Number(place)), text);
  }
  assertEquals(read(draw("", "0=7 61=8")[1], 1000), "8_°C"); // 5 s before its end
  assertEquals(read(draw("0,123.4,358", "60=0")[0], 0), "123_°C");
  assertEquals(read(draw("0,5,358", "60=0", "direction")[0], 0), "5°");
  const readDoor = (cells: string) =>
    read(draw(cells, "60=false", "boolean")[0], 0);
  const doors = ["0,0,1", "0,0,0", "1,1,1"].map(readDoor);
  assertEquals(doors, ["yes, no", "no", "yes"]);
});

Deno.test("the policy of the page permits its script and style by their sha256, and no other", async () => {
  const hashes = ["script", "style"].map(async (name) => {
    const [, text] = PAGE.match(`<${name}[^>]*>([^]*?)</${name}>`)!;
    const bytes = new TextEncoder().encode(text);
    const digest = await crypto.subtle.digest("SHA-256", bytes);
    return new Uint8Array(digest).toBase64();
  });
  const [ran, styled] = await Promise.all(hashes);
  const policy =
    `default-src 'none'; script-src 'sha256-${ran}'; style-src 'sha256-${styled}'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'`;
  assertEquals(PAGE_POLICY, policy);
});
