// Formats the manual page out of the text of --help.

/** The flags and their descriptions, as `--help` prints them. */
const FLAG = /^ {2}(-.*?) {2,}(\S.*(?:\n {3,}.*)*)$/gm;

/**
 * Formats the manual page, for man(1).
 *
 * @param date The date of the version, in seconds since 1970.
 */
export function formatManual(
  help: string,
  version: string,
  date: number,
): string {
  const [, synopsis, purpose] = help.match(/^Usage: (.*)\n\n(.*)\n/)!;
  const day = new Date(date * 1000).toISOString().slice(0, 10);
  const flags = Array.from(help.matchAll(FLAG), ([, flag, text]) =>
    `.TP
.B ${escape(flag!)}
${escape(text!.replace(/\n +/g, "\n"))}
`).join("");
  return `.TH DATASENSOR 1 ${day} "datasensor ${version}"
.SH NAME
datasensor \\- serve a sensor reading as JSON over HTTP
.SH SYNOPSIS
${escape(synopsis!)}
.SH DESCRIPTION
${escape(purpose!)}
Without a sensor, it serves a fixed text.
.PP
The package runs it as datasensor.service, and the sensor as
datasensor\\-sensor.service.
To apply changed settings, run
.BR "systemctl restart datasensor" .
.SH OPTIONS
${flags}.SH EXIT STATUS
0 after a clean stop, 1 after a failure, and 2 after invalid usage.
.SH FILES
.TP
.I /etc/default/datasensor
The settings: FLAGS are the flags of the service, and SENSOR is the command of
the sensor.
.TP
.I /run/datasensor
The FIFO from which the service reads, one reading per line.
Only root may write to it.
.TP
.I /usr/share/doc/datasensor/README.md
The operator's guide.
.TP
.I /usr/share/doc/datasensor/examples
Configuration files of programs that read the service.
`;
}

/** Escapes text for roff. */
function escape(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("-", "\\-")
    .replace(/^(?=[.'])/gm, "\\&");
}
