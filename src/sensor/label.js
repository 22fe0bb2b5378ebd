// The labels of numbers, for the history and for the page, which is served as plain JavaScript.

// What a label escapes: what would split it, and a `%` that would seem to be such an escape.
// The name of a sensor ends with the first `: `
const SPLITS_KEY = /[\t\n\r;]|%(?=09|0A|0D|3B|25)/g;
const SPLITS_NAME = /[\t\n\r;]|:(?= )|%(?=09|0A|0D|3B|3A |25)/g;

/**
 * Returns the label of a number, with which the names of its columns in the history end. The
 * labels of two numbers differ, and spreadsheets split none: one that splits at semicolons
 * takes no quotes within a cell, and so splits at line breaks, too.
 *
 * @param {string | undefined} sensor The name of the sensor, if there are several.
 * @param {string | undefined} key
 */
export function formatLabel(sensor, key) {
  if (key === undefined) return "";
  const end = ` ${escape(key, SPLITS_KEY)}`;
  return sensor ? ` ${escape(sensor, SPLITS_NAME)}:${end}` : end;
}

/** What the label of a direction in degrees ends with: `wind_dir_deg`, or stations' `winddir`. */
export const DIRECTION = /_deg$|wind_?(gust_?)?dir(ection)?(_\w+)?$/i;

const escape = (text, characters) =>
  text.replace(characters, encodeURIComponent);
