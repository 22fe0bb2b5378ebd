// The functions of the page that need no browser.

import { assert, assertEquals, assertThrows } from "@std/assert";
import * as day from "../../../src/page/day.js";
import { PAGE } from "../../../src/page/page.ts";
import * as values from "../../../src/page/values.js";

Deno.test("the scripts of the page have one scope, in which no name is declared twice", () => {
  const [, script] = PAGE.match(/<script[^>]*>(.*)<\/script>/s)!;
  const parse = (script: string) =>
    new Function(`"use strict"; {${script.replace(/^export /gm, "")}}`);
  parse(script!);
  for (const second of ["function walk() {}", "const walk = 1;", "let walk;"]) {
    assertThrows(() => parse(script + second), SyntaxError);
  }
});

/** Values of a reading: their label, name, unit and text, and whether they are numbers. */
const list = (reading: unknown, name?: string, labels: string[] = []) =>
  Array.from(
    values.listValues(
      { name, reading },
      new Map(labels.map((label) => [label, 0])),
    ).values(),
    ({ label, name, unit, value, number }) =>
      [label, name, unit, `${value}`, Number.isFinite(number)].join("|"),
  );

Deno.test("listValues() lists what only the history has after what the reading has", () => {
  const labels = [" a: x", " a%3A bc: x", " t", " a%3A b: old_V", " a%3A b: t"];
  assertEquals(list({ t: 1, on: true, u: "2" }, "a: b", labels), [
    " a%3A b: t|t||1|true",
    " a%3A b: on|on||true|true",
    " a%3A b: u|u||2|false", // a number in quotes is a text
    " a%3A b: old_V|old V||undefined|false",
  ]);
  assertEquals(list(undefined, undefined, ["", " battery_V"]), [
    "|||undefined|false",
    " battery_V|battery|V|undefined|false",
  ]);
});

Deno.test("listValues() leaves out the texts that the name of the sensor has", () => {
  const reading = { model: "a/b", channel: 1, id: "42", text: "b" };
  const shown = list(reading, "a%2Fb/1/42").map((text) => text.split("|")[3]);
  assertEquals(shown, ["1", "42", "b"]);
});

Deno.test("listValues() ends at ten objects, at a path of 400 characters, and after 2000 values", () => {
  const nest = (depth: number): unknown => depth ? { a: nest(depth - 1) } : 1;
  const last = (depth: number) => list(nest(depth))[0]!.split("|")[3];
  assertEquals([last(10), last(11)], ["1", "…"]);
  const inner = Array(2200).fill(1);
  const hidden = { a: { ["k".repeat(30_000)]: inner } };
  assertEquals([list(hidden).length, list(inner).length], [1, 2001]);
});

/** Keys with their names and units, or without. */
const UNITS =
  `temperature_C=temperature|°C temp1_F=temp1|°F temperature_2_C=temperature 2|°C
t_C=t|°C attempt_C=attempt C| dew_point_C=dew point|°C windchill_F=windchill|°F C=C|
battery_V=battery|V voltage_1_V=voltage 1|V gain_V=gain V| current_A=current|A
class_A=class A| power_W=power|W power_kW=power|kW zone_W=zone W| battery_mV=battery|mV
pressure_hPa=pressure|hPa rain_mm=rain|mm rain_rate_mm_h=rain rate|mm/h wind_avg_km_h=wind avg|km/h
wind_m_s=wind|m/s wind_dir_deg=wind dir|° depth_cm=depth|cm height_m=height|m co2_ppm=co2|ppm
soil_percent=soil|% light_lux=light|lux energy_kWh=energy|kWh humidity=humidity|%
Temperature_C=Temperature|°C aussentemperatur_C=aussentemperatur|°C température_C=température|°C
outdoorTemp_F=outdoorTemp|°F current_mA=current|mA rssi_dBm=rssi|dBm pressure_mbar=pressure|mbar
wind_mph=wind|mph frequency_Hz=frequency|Hz f_kHz=f|kHz f_MHz=f|MHz power_VA=power|VA path_km=path|km
tank_L=tank|L pm25_ug_m3=pm25|µg/m³ Humidity=Humidity|% wheat_C=wheat C| t_c=t c| soil_moisture=soil moisture|% absolute_humidity=absolute humidity| humidity_1=humidity 1|
pressure_HPA=pressure HPA| battery_ok=battery ok|`;

Deno.test("listValues() knows the units that keys end with, and no wrong ones", () => {
  const rows = UNITS.split(/[\n ](?=\S+=)/).map((row) => row.split("="));
  const shown = rows.map(([key]) => [
    key,
    list({ [key!]: 1 })[0]!.split("|").slice(1, 3).join("|"),
  ]);
  assertEquals(shown, rows);
});

Deno.test("listValues() tells booleans, directions and other numbers apart", () => {
  const long = "_deg".padStart(101, "x"); // no pattern takes long
  const reading = { on: true, winddir: 1, "t_degC": 2, [long]: 3 };
  const listed = values.listValues({ reading }, new Map([[" old_deg", 0]]));
  const kinds = Array.from(listed.values(), ({ kind, unit }) => kind + unit);
  assertEquals(kinds.join(), "boolean,direction,number,number,direction°");
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
  [-1e300, 2, "-1e+300"],
  [-0.00012345678, 2, "-0.00012345678"],
  [1e-7, 3, "1e-7"],
  ["21.5", 2, '"21.5"'],
  ["x".repeat(201), 0, `${"x".repeat(200)}…`],
];

Deno.test("formatValue() has nine digits, and as many decimals as a number has had", () => {
  for (const [value, decimals, text] of TEXTS) {
    assertEquals(values.formatValue(value, decimals), text);
  }
});

Deno.test("formatAge() is never lower than an age, from a minute on", () => {
  const ages = [0, 59.9, 60, 61, 7199, 7201, 172_799, 172_801, NaN];
  assertEquals(
    ages.map((seconds) => values.formatAge(seconds)).join(),
    ",,1 min old,2 min old,120 min old,3 h old,48 h old,3 days old,age unknown",
  );
});

Deno.test("describeClock() tells of more than five minutes, and in which direction", () => {
  const tell = (minutes: number) => values.describeClock(minutes * 60_000, 0);
  assertEquals([tell(5), tell(-5)], ["", ""]);
  assertEquals(tell(5.1), "The board's clock is 5 min ahead of this device's");
  assertEquals(tell(-420), "The board's clock is 7 h behind this device's");
});

Deno.test("parseSensors() takes whatever a proxy makes of names, times and ages", () => {
  const parsed = values.parseSensors(
    '[{"name":0,"time":5,"age":"3"},{"name":{},"age":9e9},{"name":null,"time":"t","age":86400000},{"name":"\\ud800","age":-1}]',
  );
  assertEquals(parsed.map((sensor) => Object.values(sensor)), [
    ["0", "", NaN, undefined],
    ["[object Object]", "", NaN, undefined],
    [undefined, "t", 86_400_000, undefined],
    ["\ufffd", "", NaN, undefined],
  ]);
});

const MINUTE = 60_000;
const NOON = +new Date(2026, 10, 26, 12); // where this machine is
const at = (minutes: number) =>
  new Intl.DateTimeFormat([], { timeStyle: "short" })
    .format(NOON + minutes * MINUTE);

/** Replaces times by minutes since noon. */
const count = (text: string) =>
  [-10, -8, -5, -2, -1, 0, 1, 2, 3, 5, 7, 9]
    .reduce((text, minute) => text.replaceAll(at(minute), `${minute}`), text);

Deno.test("parseHistory() reads hostile names, gaps and decimals", () => {
  const header = 'time,"min a,""b\r\n: t","mean","max",min,mean,max\r\n';
  const time = new Date(NOON).toISOString();
  const { days, end } = day.parseHistory(`${header}${time},1,1.25,1.5,,,\r\n`);
  assertEquals([...days.keys()], [' a,"b\r\n: t', ""]);
  const span = { low: 1, mean: 1.25, high: 1.5 };
  const spans = [{ start: NOON - 5 * MINUTE, end: NOON, ...span }];
  assertEquals([end, days.values().next().value], [NOON, {
    spans,
    decimals: 1,
  }]);
});

Deno.test("parseHistory() ends where a text is no CSV", () => {
  const start = performance.now();
  day.parseHistory('time,"' + '""'.repeat(60_000));
  assert(performance.now() - start < 1000); // to look for more takes 11 s
});

/**
 * Returns the graphs of rows of the history, the last of which ends at noon, after each point
 * that the page sees, `second=number`.
 */
function draw(rows: string, points: string, kind: day.Kind = "number") {
  const cells = rows.split(" ").filter(Boolean);
  const lines = cells.map((cell, index) => {
    const time = NOON + 5 * MINUTE * (index + 1 - cells.length);
    return `${new Date(time).toISOString()},${cell}\r\n`;
  });
  const { days } = day.parseHistory(
    `time,min,mean,max\r\n${lines.join("")}`,
  );
  const column = days.get("")!;
  let seen: day.Span[] = [];
  return points.split(" ").map((point) => {
    const [second, number] = point.split("=");
    const now = NOON + 1000 * Number(second);
    seen = day.addPoint(seen, number ? Number(number) : undefined, now);
    const value = { day: column, points: seen, decimals: 0, kind, unit: "°C" };
    return day.updateGraph(value, now);
  });
}

/** What is drawn: rows, points, a kind, and the line and band (x: 0 to 600) and the summary. */
const GRAPHS = `no line of less than a minute: ; 0=7 59=8; number; none
a line of a minute: ; 0=7 60=8; number; M480,53h0L600,47h0; ; low 7 at 0, high 8 at 1
points of nine minutes, with a gap: ; 0=7 540=8; number; M0,53h0M600,47h0; ; low 7 at 0, high 8 at 9
no point of ten minutes ago, which a slot covers: ; 0=7 601=8; number; none
points before the last slot, which lacks the number: ,, ,,; -120=7 60=8; number; M240,53h0L600,47h0; ; low 7 at -2, high 8 at 1
no point after now, once the clock was set back: ; 0=1 60=1 -90=7 -30=8; number; M480,53h0L600,47h0; ; low 7 at -2, high 8 at -1
a new number at once: 1,2,3; 61=2 62=9; number; M246,68h0L592,68h0L593,32h0; M0,73H492V63H0Z; low 1 at 0, high 9 at 1
no point that the last slot has: 1,2,3; 0=9 60=2; number; M250,50h0L600,50h0; M0,55H500V45H0Z; low 1 at 0, high 3 at 0
a line to a point while the next slot is late: 5,5,5; 330=6; number; M143,53h0L600,47h0; ; low 5 at 0, high 6 at 5
no line to a point five minutes and a half after a slot: 5,5,5; 331=6; number; M142,53h0M595,47h0; ; low 5 at 0, high 6 at 5
a gap between slots: 1,2,3 ,, 4,4,4; 60=5; number; M94,58h0M469,47h0L600,42h0; M0,63H188V53H0Z; low 1 at -10, high 5 at 1
a gap before the first point, without the last slot: 1,2,3 1,2,3 ,,; 60=5 120=4; number; M88,58h0L265,58h0M565,42h0L600,47h0; M0,63H176V53H0ZM176,63H353V53H176Z; low 1 at -10, high 5 at 1
no gap after one answer without the number, and one point for each time: 1,1,1; 60=1 65= 70=1 70=1 75=1; number; M238,50h0L571,50h0L587,50h0L595,50h0; ; no change
a false reading, which does not flatten the day: 20,20,20 20,20.2,85 20,20,20; 60=20; number; M94,51h0L281,49h0L469,51h0L600,51h0; M188,51H375V22H188Z; low 20 at -10, high 85 at -5
large numbers, whose band is cut: -1e307,0,1e307; 60=0; number; M250,50h0L600,50h0; M0,78H500V22H0Z; low -1e+307 at 0, high 1e+307 at 0
the largest numbers, whose difference is infinite: -1.7e308,0,1.7e308; 60=0; number; M250,50h0L600,50h0; M0,78H500V22H0Z; low -1.7e+308 at 0, high 1.7e+308 at 0
the smallest number above zero: 0,0,5e-324; 60=0; number; M250,50h0L600,50h0; ; low 0 at 0, high 5e-324 at 0
a direction from 0 to 360°, without a band: 90,100,110 185,195,200; 60=200; direction; M136,62h0L409,48h0L600,47h0; ; 
a direction from -180 to 180°: -10,0,10 -100,-90,-80; 60=-170; direction; M136,50h0L409,63h0L600,75h0; ; 
no line from a direction to one over north: 340,350,359 0,5,20 6,9,12; 60=2; direction; M94,25h0M281,75h0L469,75h0L600,76h0; ; 
a boolean in steps: 0,0.4,1; 240=1; boolean; M0,76H333h0H600V24H600h0; M0,76H333V24H0Z; yes from 0
a boolean that changes between points: 0,0,0 0,0.4,1 1,1,1; 60=1 61=0 120=0; boolean; M0,76H176h0H176V76H353h0H353V24H529h0H565V24H565h0H600V76H600h0; M176,76H353V24H176Z; no from 1
a boolean with a gap between slots: 0,0,0 1,1,1 ,, 1,1,1; 60=1; boolean; M0,76H143h0H143V24H286h0M429,24H571h0H600V24H600h0; ; yes from -5
a boolean that is known again: 0,0,0 ,, 1,1,1; 60=1 65=; boolean; M0,76H186h0M373,24H559h0H596V24H596h0; ; yes from -5
a boolean that does not change: 1,1,1; 60=1; boolean; M0,24H500h0H600V24H600h0; ; no change
a boolean that died in a slot with both: 0,0,0 0,0.6,1; 60=; boolean; M0,76H273h0H273V24H545h0; M273,76H545V24H273Z; yes and no from -5`;

/** Returns the line of a graph, its band without what has no area, and its summary. */
function read(graph: day.Graph | undefined): string {
  const [, band, line] = graph?.html.match(/(?<= d=")[^"]*/g) ?? [];
  const area = band?.replace(/M(\d+),(\d+)(?:H\1V\d+|H\d+V\2)H\1Z/g, "");
  return graph ? count(`${line}; ${area}; ${graph.summary}`) : "none";
}

for (const graph of GRAPHS.split("\n")) {
  const [, what, row] = graph.match(/^([^:]+): (.*)$/)!;
  Deno.test(`updateGraph() draws ${what}`, () => {
    const [rows, points, kind, ...shown] = row!.split("; ");
    const graphs = draw(rows!, points!, kind as day.Kind);
    assertEquals(read(graphs.at(-1)), shown.join("; "));
  });
}

/** A kind, and what stands beside its graph: the grid, the texts at its top and bottom, its role. */
const SCALES: [day.Kind, string, string][] = [
  ["number", "0,1,2", "; 2 0; img"],
  ["boolean", "0,0.5,1", "M0,76H600M0,24H600; yes no; presentation"],
  ["direction", "0,90,99", "M0,76H600M0,24H600; 360° 0°; presentation"],
  ["direction", "-9,0,9", "M0,76H600M0,24H600; 180° -180°; presentation"],
];

Deno.test("updateGraph() writes what the top and the bottom of each kind are", () => {
  for (const [kind, row, expected] of SCALES) {
    const { html } = draw(row, "0=1", kind)[0]!;
    const [grid] = html.match(/(?<= d=")[^"]*/)!;
    const limits = grid.replace(/M\d+,0V100/g, ""); // without the times
    const texts = ["sup", "sub"].map((name) =>
      html.match(RegExp(`<${name}[^>]*>([^<]*)`))![1]
    );
    const [role] = html.match(/(?<=role=")[^"]*/)!;
    assertEquals(`${limits}; ${texts.join(" ")}; ${role}`, expected);
  }
});

Deno.test("updateGraph() keeps a graph until it moves by a pixel, or a new number comes", () => {
  const countGraphs = (points: string) => new Set(draw("0,1,2", points)).size;
  assertEquals(countGraphs("61=1 62=1.5 63=0.5"), 1);
  assertEquals(countGraphs("61=1 62=3 63=-1"), 3);
  assertEquals(countGraphs("61=1 67=1"), 2);
  assertEquals(new Set(draw("0,0,1", "61=1 62=0 63=1", "boolean")).size, 3);
  const points = day.addPoint(day.addPoint([], 0, NOON - MINUTE), 1, NOON);
  const value = { unit: "", day: { spans: [], decimals: 0 }, points };
  const styles = [["number", 0], ["number", 1], ["boolean", 1]] as const;
  const draws = styles.map(([kind, decimals]) =>
    day.updateGraph({ ...value, kind, decimals }, NOON)
  );
  assertEquals(new Set(draws).size, 3);
});

Deno.test("updateGraph() shows the last day, in the zone that the browser has now", () => {
  const rows = "1,1,1 9,9,9" + " 5,5,5".repeat(286);
  const { DateTimeFormat } = Intl;
  const summarize = () => draw(rows, "150=5")[0]!.summary;
  const summary = summarize();
  const [low, high] = [1425, 1430].map((minutes) =>
    day.formatTime(NOON - minutes * MINUTE, NOON)
  );
  assertEquals(summary, `low 5 at ${low}, high 9 at ${high}`);
  // deno-lint-ignore no-explicit-any -- a zone that is 15 min behind
  Intl.DateTimeFormat = function (...options: any) {
    const clock = new DateTimeFormat(...options);
    return { format: (time: number) => clock.format(time - 15 * MINUTE) };
  } as unknown as typeof DateTimeFormat;
  assertEquals(summarize() === summary, false);
  Intl.DateTimeFormat = DateTimeFormat;
});

Deno.test("formatTime() has the date of what is not of today, by the calendar", () => {
  const isDated = (time: [number, number, number], now: typeof time) => {
    const [then, there] = [time, now].map((it) => +new Date(2026, 10, ...it));
    return day.formatTime(then!, there!) !== day.formatTime(then!);
  };
  assertEquals(isDated([27, 23, 50], [28, 0, 10]), true);
  assertEquals(isDated([27, 12, 5], [28, 12, 0]), true);
  assertEquals(isDated([25, 5, 6], [28, 5, 6]), true);
});

/** Places of a graph, from 0 to 1000, and what it has there. */
const PLACES = `0=-10: 2.3 °C (1 to 3)
300=-8: no reading
450=0: 4 °C
660=1: 5 °C
770=3: no reading
917=7: 6 °C
1000=9: no reading`;

Deno.test("readGraph() tells the time and the number at a place, or that there is none", () => {
  const read = (graph: day.Graph | undefined, place: number) =>
    count(day.readGraph(graph!, place / 1000, NOON));
  const graph = draw("1,2.34,3 ,, 4,4,4", "60=5 420=6 540=").at(-1);
  for (const row of PLACES.split("\n")) {
    const [place, text] = row.split("=");
    assertEquals(read(graph, Number(place)), text);
  }
  const texts = [0, 1440].map((minutes) =>
    day.readGraph(graph!, 0, NOON + minutes * MINUTE)
  );
  assert(texts[0] !== texts[1]); // of yesterday
  assertEquals(read(draw("", "0=7 61=8")[1], 1000), "1: 8 °C"); // 5 s before its end
  assertEquals(read(draw("0,5,358", "60=0", "direction")[0], 0), "0: 5 °C");
  assertEquals(read(draw("0,0,1", "60=0", "boolean")[0], 0), "0: yes and no");
});
