import walk from "../sensor/walk.js" with { type: "text" };
import day from "./day.js" with { type: "text" };
import html from "./page.html" with { type: "text" };
import script from "./page.js" with { type: "text" };
import style from "./page.css" with { type: "text" };
import values from "./values.js" with { type: "text" };

// One scope, in which each name is declared once. Without imports: what a file imports stands
// before it. Without comments: phones load less
const scripts = `${walk}${values}${day}${script}`
  .replace(/^import [^;]*;|^ *(\/\/.*|\/\*\*((?!\*\/)[^])*\*\/)$\n/gm, "");

/** The document of the page with graphs, with its style and its script. */
export const PAGE = html
  .replace(/<link rel="stylesheet".*>/, () => `<style>${style}</style>`)
  .replace(/ src="page.js">/, () => `>${scripts}`);
