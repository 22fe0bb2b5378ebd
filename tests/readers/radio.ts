// What rtl_433 prints for six transmitters: three have the same id, and one has none.

/** Its lines, with their spaces. `time` is the local time. */
export const HEARD = String
  .raw`{"time" : "2026-11-22 19:00:00", "model" : "Nexus-TH", "id" : 42, "channel" : 1, "battery_ok" : 1, "temperature_C" : 21.600, "humidity" : 20}
{"time" : "2026-11-22 19:00:01", "model" : "Nexus-TH", "id" : 42, "channel" : 2, "battery_ok" : 1, "temperature_C" : -3.500, "humidity" : 81}
{"time" : "2026-11-22 19:00:02", "model" : "LaCrosse-WS3600", "id" : 42, "temperature_C" : 22.800}
{"time" : "2026-11-22 19:00:03", "model" : "Acurite-Tower", "id" : 7997, "channel" : "A", "temperature_C" : 12.600, "humidity" : 91, "battery_ok" : 0}
{"time" : "2026-11-22 19:00:04", "model" : "Toyota", "type" : "TPMS", "id" : "da22b333", "status" : 128, "pressure_PSI" : 30.250, "temperature_C" : 20.000, "mic" : "CRC"}
{"time" : "2026-11-22 19:00:05", "model" : "Cardin-S466", "dipswitch" : "--+-+--+", "rbutton" : "11R"}
`;

/** The keys under which the example serves them. */
export const KEYS = [
  "Nexus-TH 1 42",
  "Nexus-TH 2 42",
  "LaCrosse-WS3600 42",
  "Acurite-Tower A 7997",
  "Toyota da22b333",
  "Cardin-S466",
];
