// .tools/build, with a stand-in for the compiler: what it makes lists what it was given.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { output, shell } from "../helpers/process.ts";
import { testWith } from "../helpers/skip.ts";

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
const EXECUTABLE = "dist/datasensor-aarch64";
const PACKAGE = "dist/datasensor_arm64.deb";
const FLAGS = ".tools/std/flags";
const test = testWith("git", "dpkg-deb");

/** Creates a clone of the project, with packages of jsr.io. */
async function createClone(): Promise<Folder> {
  const clone = await Folder.ofProject();
  await clone.write(FLAGS, "");
  await clone.commit();
  return clone;
}

/** Builds in a clone with a compiler. */
async function build(
  { path }: Folder,
  args = "executable",
  { compiler = COMPILER, umask = "022", env = {} } = {},
) {
  using programs = await Folder.create();
  await programs.write("bin/deno", compiler);
  const PATH = `${programs.path}/bin:${Deno.env.get("PATH")}`;
  const script = ["-c", `umask ${umask}; .tools/build ${args}`];
  return await output("sh", script, { cwd: path, env: { PATH, ...env } });
}

test("a commit gives the same package in every clone", async () => {
  using first = await createClone();
  using second = await Folder.create();
  using home = await Folder.create();
  const script = `umask 077; git clone -q "$0" .; cp "$0/$1" "$1"
    git config core.autocrlf true; git config tar.umask 077
    echo "*.html export-ignore" >.git/info/attributes
    mkdir -p dist "$2/.config/git"
    chmod g+s dist
    echo "*.png export-ignore" >"$2/.config/git/attributes"
    git config --file "$2/.gitconfig" core.eol crlf
    chown -R 65534 . || true # another user's clone, if this is root`;
  const args = [first.path, FLAGS, home.path];
  await shell(script, args, { cwd: second.path });
  const env = {
    CDPATH: "/",
    DENO_COMPAT: "1",
    GIT_DIR: first.path,
    HOME: home.path,
    OTEL_DENO_TRACING: "true",
    TAR_OPTIONS: "--exclude=nginx.conf",
    TZ: "Pacific/Auckland",
  };
  await build(first, "package");
  await build(second, "package", { umask: "077", env });
  const both = [first, second].map(({ path }) => `${path}/${PACKAGE}`);
  assertEquals((await output("cmp", both)).code, 0);
  const list = await shell(`TZ=UTC dpkg-deb -c ${both[0]}`);
  const times = list.match(/\d{4}-\d\d-\d\d \d\d:\d\d/g);
  assertEquals(new Set(times), new Set(["2026-11-22 16:29"]));
});

test("a build refuses changes that are not committed, unless they are no part of it", async () => {
  using clone = await createClone();
  await clone.write("tests/a_test.ts", "");
  await clone.commit();
  await clone.write("tests/a_test.ts", "// changed");
  await clone.write("src/new.ts", "");
  await Deno.utime(`${clone.path}/main.ts`, 0, 0); // is no change
  await clone.write(".git/index.lock", ""); // another build's
  const { stdout } = await build(clone);
  assertEquals(stdout, `Made ${clone.path}/${EXECUTABLE}\n`);
  const built = await Deno.readTextFile(`${clone.path}/${EXECUTABLE}`);
  assert(!built.includes("src/new.ts"));
  await Deno.remove(`${clone.path}/src/clock.ts`);
  const { code, stderr } = await build(clone);
  assertEquals(code, 1);
  assertMatch(stderr, /^Some changes are not committed.*\n D src\/clock.ts$/m);
  await clone.write(".git/index", "corrupt");
  assertMatch((await build(clone)).stderr, /^fatal: /);
});

test("a build has the permissions of the service, and says if it has the stand-ins for @std", async () => {
  using clone = await createClone();
  const STAND_INS =
    "This build contains the stand-ins of .tools/std for the @std packages: do not release it";
  assert(!(await build(clone)).stdout.includes(STAND_INS));
  await clone.write(FLAGS, "--no-lock --import-map=stand-ins");
  const { stdout } = await build(clone);
  assert(stdout.includes(`${STAND_INS}\n`), stdout);
  // An executable may do what the service may, and no more
  const flags = (await Deno.readTextFile(".tools/service_flags")).trim();
  const args = `compile --no-code-cache --no-check
    ${flags} --no-lock --import-map=stand-ins --target=`.split(/\s+/);
  const given = await Deno.readTextFile(`${clone.path}/${EXECUTABLE}`);
  assert(given.includes(`\n${args.join("\n")}`), given);
});

const ENDS = {
  fails: "#!/bin/sh\nexit 1\n",
  "is stopped": "#!/bin/sh\nkill -INT $PPID\n",
  "contains another Deno": COMPILER.replace("Deno/2.9.6", "Deno/2.9.60"),
};

for (const [ends, compiler] of Object.entries(ENDS)) {
  test(`a build that ${ends} keeps the earlier file, and no other`, async () => {
    using clone = await createClone();
    await clone.write(EXECUTABLE, "earlier");
    const { code } = await build(clone, "executable", { compiler });
    assertEquals(code, 1);
    const look = `cd ${clone.path}; ls -A dist; cat ${EXECUTABLE}`;
    assertEquals(await shell(look), "datasensor-aarch64\nearlier");
  });
}
