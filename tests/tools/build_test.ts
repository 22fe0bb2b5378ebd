// .tools/build, with a stand-in for the compiler: what it makes lists what it was given.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { type Output, output } from "../helpers/process.ts";
import { missing, skipIf } from "../helpers/skip.ts";

const COMPILER = `#!/bin/sh
[ "$1" != --version ] || exec echo "deno 2.9.6 (stable)"
for arg; do case $arg in --output=*) output=\${arg#*=} ;; *) echo "$arg" ;; esac; done >args
env | sed "s/=.*//" | sort >>args
{
  echo "Deno/2.9.6 is the runtime"
  cat args deno.json
  find deno.json main.ts src -type f -exec stat -c "%a %Y %n" {} + | sort
  stat -c "folder %a" .
} >"$output"
chmod 755 "$output"
`;

const STAND_INS =
  "This build contains the stand-ins of .tools/std for the @std packages: do not release it";

/** Defines a test that builds. */
function test(name: string, check: () => Promise<void>): void {
  Deno.test(skipIf(missing("git", "dpkg-deb"), name), check);
}

interface BuildOptions {
  compiler?: string;
  umask?: string;
  env?: Record<string, string>;
}

/** A clone of the project, and what builds it. */
class Clone implements Disposable {
  static async create(): Promise<Clone> {
    const clone = new Clone(await Folder.ofProject());
    await clone.setStdFlags("");
    await clone.folder.commit();
    return clone;
  }

  constructor(readonly folder: Folder) {}

  get path(): string {
    return this.folder.path;
  }

  async setStdFlags(flags: string): Promise<void> {
    await Deno.writeTextFile(`${this.path}/.tools/std/flags`, flags);
  }

  /** Builds with a compiler. */
  async build(
    args: string[],
    { compiler = COMPILER, umask = "022", env = {} }: BuildOptions = {},
  ): Promise<Output> {
    using programs = await Folder.create();
    const file = `${programs.path}/deno`;
    await Deno.writeTextFile(file, compiler, { mode: 0o755 });
    const PATH = `${programs.path}:${Deno.env.get("PATH")}`;
    const run = ["-c", 'umask $0; exec "$@"', umask, ".tools/build", ...args];
    return await output("sh", run, { cwd: this.path, env: { PATH, ...env } });
  }

  /** Builds an executable, and returns what the compiler was given. */
  async compile(): Promise<{ given: string; stdout: string }> {
    const { code, stdout, stderr } = await this.build(["executable"]);
    assertEquals([code, stderr], [0, ""]);
    const file = `${this.path}/dist/datasensor-aarch64`;
    return { given: await Deno.readTextFile(file), stdout };
  }

  [Symbol.dispose](): void {
    this.folder.remove();
  }
}

test("a commit gives the same package in every clone", async () => {
  using first = await Clone.create();
  using second = new Clone(await Folder.create());
  using home = await Folder.create();
  const script = `umask 077; git clone -q "$0" .; cp "$0/$1" "$1"
      git config core.autocrlf true; git config tar.umask 077
      echo "*.html export-ignore" >.git/info/attributes
      mkdir -p dist "$2/.config/git"
      chmod g+s dist
      echo "*.png export-ignore" >"$2/.config/git/attributes"
      git config --file "$2/.gitconfig" core.eol crlf
      chown -R 65534 . || true # another user's clone, if this is root`;
  const args = [first.path, ".tools/std/flags", home.path];
  await output("sh", ["-ec", script, ...args], { cwd: second.path });
  const env = {
    CDPATH: "/",
    DENO_COMPAT: "1",
    GIT_DIR: first.path,
    HOME: home.path,
    OTEL_DENO_TRACING: "true",
    TAR_OPTIONS: "--exclude=nginx.conf",
    TZ: "Pacific/Auckland",
  };
  const changed = { umask: "077", env };
  assertEquals((await first.build(["package"])).code, 0);
  assertEquals((await second.build(["package"], changed)).code, 0);
  const sum = async ({ path }: Clone) => {
    const file = `${path}/dist/datasensor_arm64.deb`;
    return (await output("sha256sum", [file])).stdout.split(" ")[0];
  };
  assertEquals(await sum(second), await sum(first));
  const list = ["-c", `${first.path}/dist/datasensor_arm64.deb`];
  const { stdout } = await output("dpkg-deb", list, { env: { TZ: "UTC" } });
  const times = stdout.match(/\d{4}-\d\d-\d\d \d\d:\d\d/g);
  assertEquals(new Set(times), new Set(["2026-11-22 16:29"]));
});

test("a build contains changes, but no new files, and says so", async () => {
  using clone = await Clone.create();
  await Deno.utime(`${clone.path}/main.ts`, 0, 0); // is no change
  await Deno.writeTextFile(`${clone.path}/src/new.ts`, ""); // nor is this
  const { given, stdout } = await clone.compile();
  assertEquals(stdout, `Made ${clone.path}/dist/datasensor-aarch64\n`);
  await Deno.remove(`${clone.path}/src/clock.ts`);
  await Deno.writeTextFile(`${clone.path}/.git/index.lock`, ""); // another build's
  const changed = await clone.compile();
  assertMatch(
    changed.stdout,
    /^This build contains changes that are not committed, but no new files/,
  );
  const list = (text: string) => text.match(/(?<= )src\/.*$/gm)!;
  const others = list(given).filter((file) => file !== "src/clock.ts");
  assertEquals(list(changed.given), others);
});

test("a build has the permissions of the service, and says if it has the stand-ins for @std", async () => {
  using clone = await Clone.create();
  assert(!(await clone.compile()).stdout.includes(STAND_INS));
  await clone.setStdFlags("--no-lock --import-map=stand-ins");
  const { given, stdout } = await clone.compile();
  // An executable may do what the service may, and no more
  const flags = (await Deno.readTextFile(".tools/service_flags")).trim();
  const args = `compile --unstable-raw-imports --no-code-cache --no-check
    ${flags} --no-lock --import-map=stand-ins --target=`.split(/\s+/);
  assert(given.includes(`\n${args.join("\n")}`), given);
  assert(stdout.includes(`${STAND_INS}\n`), stdout);
});

const ENDS = {
  fails: "#!/bin/sh\nexit 1\n",
  "is stopped": "#!/bin/sh\nkill -INT $PPID\n",
  "contains another Deno": COMPILER.replace("Deno/2.9.6", "Deno/2.9.60"),
};

for (const [ends, compiler] of Object.entries(ENDS)) {
  test(`a build that ${ends} keeps the earlier file, and no other`, async () => {
    using clone = await Clone.create();
    const { given } = await clone.compile();
    assertEquals((await clone.build(["executable"], { compiler })).code, 1);
    const { stdout } = await output("ls", ["-A", `${clone.path}/dist`]);
    assertEquals(stdout, "datasensor-aarch64\n");
    const file = `${clone.path}/dist/datasensor-aarch64`;
    assertEquals(await Deno.readTextFile(file), given);
  });
}

const REFUSED: [args: string[], message: string][] = [
  [["exe"], 'Unknown product "exe": use executable or package'],
  [
    ["executable", "--target=arm"],
    'Unknown target "arm": use aarch64 or x86_64',
  ],
  [["executable", "--output-dir"], "--output-dir takes a folder"],
  [
    ["executable", "--debug"],
    'Unknown argument "--debug": use --target=TARGET and --output-dir DIR',
  ],
];

for (const [args, message] of REFUSED) {
  Deno.test(`a build refuses ${args.join(" ")}`, async () => {
    const { code, stderr } = await output(".tools/build", args);
    assertEquals([code, stderr], [1, `${message}\n`]);
  });
}

test("a build fails without a clone that git can read", async () => {
  using project = await Folder.ofProject();
  const build = () =>
    output(".tools/build", ["executable"], { cwd: project.path });
  const without = await build();
  assertEquals(without.code, 1);
  assertMatch(without.stderr, /^This folder is no clone of the repository/);
  await Deno.mkdir(`${project.path}/.git`);
  const damaged = await build();
  assertEquals([damaged.code, damaged.stdout], [1, ""]);
  assertMatch(damaged.stderr, /^git finds no commit in this folder/m);
});
