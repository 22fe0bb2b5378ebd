// The form of the access log, which only its unit test knows besides this parser.

/** What a line of the access log says. */
export interface AccessLine {
  client: string; // its IP address
  request: string; // the method and the target, escaped
  status: string;
}

const TEXT = String.raw`(?:[!#-[\]-~]|\\["\\]|\\x[\da-f]{2})+(?:\\\.\.\.)?`;
const FORM = RegExp(
  String.raw`^(?<client>\S+) - - ` +
    String.raw`\[\d\d/[A-Z][a-z]{2}/\d{4} \d\d:\d\d:\d\d\] ` +
    String.raw`"(?<request>${TEXT} ${TEXT}) HTTP/1\.1" (?<status>\d{3}) -$`,
);

/** Parses a log line, or returns undefined if it is no access line. */
export function parseAccessLine(line: string): AccessLine | undefined {
  return line.match(FORM)?.groups as AccessLine | undefined;
}
