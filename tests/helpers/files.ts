// Temporary folders, which are removed after a test.

import { shell } from "./process.ts";

/** A temporary folder. */
export class Folder implements Disposable {
  static async create(): Promise<Folder> {
    // The system's temporary folder may be a symbolic link
    return new Folder(await Deno.realPath(await Deno.makeTempDir()));
  }

  /** Creates a folder with a copy of the project, without its tests. */
  static async ofProject(): Promise<Folder> {
    const folder = await Folder.create();
    const script =
      `cp -R .dvmrc .github .gitignore .tools README.md deno.json deno.lock main.ts src "$0"
      chmod -R u+w "$0"`; // the project may be read-only
    await shell(script, [folder.path]);
    return folder;
  }

  /** Commits its files, always at the same time. */
  async commit(): Promise<void> {
    const script = `unset $(git rev-parse --local-env-vars)
      export GIT_CONFIG_GLOBAL=/dev/null # not the user's settings
      export GIT_AUTHOR_DATE="$0" GIT_COMMITTER_DATE="$0"
      git init -q
      git add -A
      git -c user.name=test -c user.email=test commit -q -m test`;
    await shell(script, ["2026-11-22T17:29:59+01:00"], { cwd: this.path });
  }

  private constructor(readonly path: string) {}

  /** Writes a file and the folders to it. In a folder `bin`, it is a program. */
  async write(file: string, text: string): Promise<void> {
    const path = `${this.path}/${file}`;
    await Deno.mkdir(path.replace(/[^/]+$/, ""), { recursive: true });
    const mode = file.includes("bin/") ? 0o755 : 0o644;
    await Deno.writeTextFile(path, text, { mode });
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.path, { recursive: true });
  }
}
