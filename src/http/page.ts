import day from "../readers/page/day.js" with { type: "text" };
import html from "../readers/page/page.html" with { type: "text" };
import script from "../readers/page/page.js" with { type: "text" };
import style from "../readers/page/page.css" with { type: "text" };
import values from "../readers/page/values.js" with { type: "text" };

// Without imports: what a file imports stands before it
const scripts = `${values}${day}${script}`.replace(/^import [^;]*;/gm, "");

/** The document of the page with graphs, with its style and its script. */
export const PAGE = html
  .replace(/<link rel="stylesheet".*>/, () => `<style>${style}</style>`)
  .replace(/ src="page.js">/, () => `>${scripts}`);
