import project from "../deno.json" with { type: "json" };

/** The version of the program. */
export const PROGRAM_VERSION = project.version;

/** The text of `--version`. It names Deno, too, since an executable contains it. */
export const VERSION =
  `datasensor ${PROGRAM_VERSION} (Deno ${Deno.version.deno}, ${Deno.build.arch})`;
