// What the manual page and the text of --help have in common.

import {
  FLAGS,
  formatNames,
  PURPOSE,
  SYNOPSIS,
} from "../src/process/command_line.ts";

/** Returns the parts of the manual page that follow from the flags, by placeholder. */
export function formatManual(): Record<string, string> {
  const flags = FLAGS.map((flag) =>
    `.TP\n.B ${escape(formatNames(flag))}\n${escape(flag.help)}`
  );
  return {
    SYNOPSIS: escape(SYNOPSIS),
    PURPOSE: escape(PURPOSE),
    FLAGS: flags.join("\n"),
  };
}

/** Escapes text for roff. */
function escape(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("-", "\\-")
    .replace(/^(?=[.'])/gm, "\\&");
}
