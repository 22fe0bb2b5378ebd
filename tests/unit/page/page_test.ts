// The functions of the page that need no browser.

import { assertEquals } from "@std/assert";
import * as day from "../../../src/page/day.js";
import * as values from "../../../src/page/values.js";

/** Values in the reading of an only sensor: their label, name and text, and unit or "graph". */
// deno-lint-ignore no-explicit-any -- the page has no types
const list = (reading: any, name?: string, labels: string[] = []) =>
  values.listValues({ name, reading }, new Map(labels.map((it) => [it, 0])))
    .map(({ label, name, unit, value, number }) =>
      [label, name, unit, `${value}`, Number.isFinite(number)].join("|")
    );

/** Readings, and what is listed of each. */
const READINGS: [reading: unknown, ...values: string[]][] = [
  [21.5, "|||21.5|true"],
  [" 07\r", "|||7|true"], // without --json
  [{ t: "21.5", n: null, on: true }, " t|t||21.5|false", " on|on||true|true"],
  [{ air: { t_C: 1 } }, " air.t_C|air › t|°C|1|true"],
  [{ a: ["x"] }, " a.0|a › 0||x|false"],
  [{ "a.b": 1, a: { b: 2 } }, " a.b|a › b||2|true"],
  [{ "\ud800": 1 }, " \ufffd|\ufffd||1|true"],
  [JSON.parse("1e999"), "|||Infinity|false"],
];

Deno.test("listValues() lists the values in a reading, and which are numbers", () => {
  const listed = READINGS.map(([reading]) => [reading, ...list(reading)]);
  assertEquals(listed, READINGS);
});

Deno.test("listValues() lists what only the history has after what the reading has", () => {
  const labels = [" a: x", " t", " a%3A b: old_V", " a%3A b: t"];
  assertEquals(list({ t: 1 }, "a: b", labels), [
    ...[" a%3A b: t|t||1|true", " a%3A b: old_V|old V||undefined|false"],
  ]);
  assertEquals(list(undefined, undefined, ["", " battery_V"]), [
    ...["|||undefined|false", " battery_V|battery|V|undefined|false"],
  ]);
});

Deno.test("listValues() leaves out the texts that the name of the sensor has", () => {
  const reading = { model: "a/b", channel: 1, id: "42", text: "b" };
  const shown = list(reading, "a%2Fb/1/42").map((it) => it.split("|")[3]);
  assertEquals(shown, ["1", "42", "b"]);
});

Deno.test("listValues() ends at ten objects, and at a path of 400 characters", () => {
  const nest = (depth: number): unknown => depth ? { a: nest(depth - 1) } : 1;
  const last = (depth: number) => list(nest(depth))[0]!.split("|")[3];
  assertEquals([last(10), last(11)], ["1", "…"]);
  const key = "k".repeat(30_000);
  const inner = Array(2200).fill(1);
  assertEquals(list({ a: { [key]: inner } }).length, 1);
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
soil_moisture=soil moisture|% absolute_humidity=absolute humidity| humidity_1=humidity 1|
pressure_HPA=pressure HPA| battery_ok=battery ok|`;

Deno.test("listValues() knows the units that keys end with, and no wrong ones", () => {
  const rows = UNITS.split(/[\n ](?=\S+=)/).map((row) => row.split("="));
  const shown = rows.map(([key]) => [
    key,
    list({ [key!]: 1 })[0]!.split("|").slice(1, 3).join("|"),
  ]);
  assertEquals(shown, rows);
});

/** Values, the decimals that they had, and their texts. */
const TEXTS: [value: unknown, decimals: number, text: string][] = [
  [21, 1, "21.0"],
  [0.30000000000000004, 0, "0.3"],
  [101325.42, 0, "101325.42"],
  [52.520008, 0, "52.520008"],
  [123456.789, 3, "123456.789"],
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
  const { formatValue } = values;
  const texts = TEXTS.map(([it, count]) => [it, count, formatValue(it, count)]);
  assertEquals(texts, TEXTS);
});

Deno.test("formatDuration() has the unit that tells most", () => {
  const durations = [0.4, 119, 119.6, 7199, 7200, 172_799, 172_800];
  assertEquals(durations.map(values.formatDuration), [
    ...["0 s", "119 s", "2 min", "120 min", "2 h", "48 h", "2 days"],
  ]);
});

const END = Date.UTC(2026, 10, 26, 12);
const MINUTE = 60_000;
const row = (minutes: number, cells: string) =>
  `${new Date(END + minutes * MINUTE).toISOString()},${cells}\r\n`;

Deno.test("parseHistory() reads hostile names, gaps and decimals", () => {
  const header = 'time,"min a,""b\r\n: t","mean","max",min,mean,max\r\n';
  const csv = header + row(0, "1,1.25,1.5,,,") + row(5, ",,,7,7,7");
  const { days, end } = day.parseHistory(csv);
  assertEquals([...days.keys()], [' a,"b\r\n: t', ""]);
  const [{ spans, decimals }] = [...days.values()] as [
    { spans: []; decimals: number },
  ];
  assertEquals([end, decimals], [END + 5 * MINUTE, 1]);
  const span = { low: 1, mean: 1.25, high: 1.5, pen: "M" };
  assertEquals(spans, [{ start: END - 5 * MINUTE, end: END, ...span }]);
});
