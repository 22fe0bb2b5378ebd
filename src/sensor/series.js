// Names of the series in the history, and of those with directions, for the service and the page.

// What a name escapes: what would split it, and a `%` that would seem to be such an escape. The
// name of a sensor ends with the first `: `
const SPLITS_KEY = /[\t\n\r;]|%(?=09|0A|0D|3B|25)/g;
const SPLITS_NAME = /[\t\n\r;]|:(?= )|%(?=09|0A|0D|3B|3A |25)/g;

/**
 * Returns the name of the series of a number, with which the names of its columns end. Those of
 * two keys differ, and spreadsheets split none: one that splits at semicolons takes no quotes
 * within a cell, and so splits at line breaks, too.
 *
 * @param {string} sensor The name of the sensor, empty if sensors have none.
 * @param {string | undefined} key
 */
export function nameSeries(sensor, key) {
  if (key === undefined) return "";
  const end = ` ${escape(key, SPLITS_KEY)}`;
  return sensor === "" ? end : ` ${escape(sensor, SPLITS_NAME)}:${end}`;
}

/**
 * What the series of a direction in degrees ends with: `wind_dir_deg`, or `winddir`, `wind.bearing`
 * or `maxGustAngle` of stations, but not `unwind_angle`. `+` instead of a limit would be slow.
 */
export const DIRECTION =
  /_(?:[Dd]eg|DEG)$|(?:(?:^|[^A-Za-z])(?:[Ww]ind|WIND|[Gg]ust|GUST)|[a-z](?:Wind|Gust))[._ ]?(?:(?:[Gg]ust|GUST|[Ff]rom)[._ ]?)?(?:(?:[Dd]ir(?:ection)?|DIR(?:ECTION)?|[Bb]earing|[Aa]ngle)(?:[Dd]egrees|\d{1,3}m|_\w{1,60})?|[Dd]eg(?:rees?)?)$/;

/** Returns the same direction in the turn that begins at another one, in degrees. */
export const toTurn = (/** @type {number} */ direction, start) =>
  direction - 360 * Math.floor((direction - start) / 360);

const escape = (text, characters) =>
  text.replace(characters, encodeURIComponent);
