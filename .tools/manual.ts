// Takes from the text of --help what the manual page contains of it.

/** The flags and their descriptions, as `--help` prints them. */
const FLAG = /^ {2}(-.*?) {2,}(\S.*(?:\n {3,}.*)*)$/gm;

/** Returns parts of the text of `--help` for the manual page, by placeholder. */
export function parseHelp(help: string): Record<string, string> {
  const [, synopsis, purpose] = help.match(/^Usage: (.*)\n\n(.*)\n/)!;
  const flags = Array.from(help.matchAll(FLAG), ([, flag, text]) =>
    `.TP
.B ${escape(flag!)}
${escape(text!.replace(/\n +/g, "\n"))}`);
  return {
    SYNOPSIS: escape(synopsis!),
    PURPOSE: escape(purpose!),
    FLAGS: flags.join("\n"),
  };
}

/** Escapes text for roff. */
function escape(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("-", "\\-")
    .replace(/^(?=[.'])/gm, "\\&");
}
