import walk from "../sensor/walk.js" with { type: "text" };
import board from "./board.js" with { type: "text" };
import graph from "./graph.js" with { type: "text" };
import html from "./page.html" with { type: "text" };
import series from "../sensor/series.js" with { type: "text" };
import script from "./page.js" with { type: "text" };
import style from "./page.css" with { type: "text" };
import values from "./values.js" with { type: "text" };

// One scope, in which each name is declared once. Without imports: what a file imports stands
// before it. Without comments and indentation: phones load less
const scripts = `${walk}${series}${values}${graph}${board}${script}`
  .replace(/^import [^;]*;/gm, "")
  .replace(/^ *(\/\/.*|\/\*\*((?!\*\/)[^])*\*\/)$\n|^ +| \/\/ .*$/gm, "");
const styles = style.replace(/^ +/gm, "");

/** The document of the page with graphs, with its style and its scripts. */
export const PAGE = html
  .replace(/<link rel="stylesheet".*>/, () => `<style>${styles}</style>`)
  .replace(/ src="page.js">/, () => `>${scripts}`);

const [ran, styled] = await Promise.all([scripts, styles].map(hash));

/** What the page may do: run its script and style, ask the service, and make no text HTML. */
export const PAGE_POLICY =
  `default-src 'none'; script-src ${ran}; style-src ${styled}; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'`;

/** Returns what permits an element with a text. */
async function hash(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return `'sha256-${new Uint8Array(digest).toBase64()}'`;
}
