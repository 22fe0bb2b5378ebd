// deno-lint-ignore-file camelcase -- the keys are names of files

// A board's files, on which the package's programs run as in the sensor's unit.

import { Folder } from "../helpers/files.ts";
import { type Output, output, Process } from "../helpers/process.ts";

const PACKAGE = "src/board/package";

const UNIT = await Deno.readTextFile(
  `${PACKAGE}/usr/lib/systemd/system/datasensor-sensor.service`,
);

/** The variables that the sensor's unit sets, and systemd. */
const ENV = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  ...Object.fromEntries(
    Array.from(
      UNIT.matchAll(/^Environment=(\w+)=(.*)$/gm),
      ([, name, value]) => [name!, value!],
    ),
  ),
};

/** The command that runs the sensor, which is its last argument. */
const RUN_SENSOR = UNIT.match(/^ExecStart=(.*) \$\{SENSOR\}$/m)![1]!.split(" ");

/**
 * Runs a command where some files of a board are in place of this machine's, and the
 * package is installed.
 */
const ON_BOARD = [
  "unshare",
  "--map-root-user",
  "--mount",
  "sh",
  "-ec",
  `mount --bind "$0/sys" /sys
  mount --bind "$0/home" /home
  mount -t overlay overlay -o "lowerdir=$0/usr:$1/usr:/usr" /usr
  shift
  exec "$@"`,
];

/** What to do if this machine cannot do that. */
export const NO_MOUNTS = findReason();

function findReason(): string | undefined {
  try {
    const args = ["--map-root-user", "--mount", "true"];
    const { success } = new Deno.Command("unshare", { args }).outputSync();
    if (success) return;
  } catch {
    // It is not installed
  }
  return 'use Linux, and let "unshare --map-root-user --mount" work';
}

/** A file whose reads fail with EIO, as those of a sensor that does not answer. */
export const UNREADABLE = Symbol();

/**
 * The files of a board in /sys, /home and /usr, by their paths. Those in folders `bin` are
 * programs, and a text that begins with `->` is where a symbolic link leads.
 */
export type Files = Record<string, string | typeof UNREADABLE>;

/** What a sensor finds on a board: the package's programs, and files like the kernel's. */
export class SensorUnit implements Disposable {
  readonly #root: Folder;

  private constructor(root: Folder) {
    this.#root = root;
  }

  /** Creates a board with some files. */
  static async create(files: Files = {}): Promise<SensorUnit> {
    const unit = new SensorUnit(await Folder.create());
    for (const folder of ["sys", "home", "usr"]) {
      await Deno.mkdir(`${unit.#root.path}/${folder}`);
    }
    for (const [path, text] of Object.entries(files)) {
      await unit.#write(path, text);
    }
    return unit;
  }

  async #write(path: string, text: Files[string]): Promise<void> {
    const file = this.#root.path + path;
    await Deno.mkdir(file.replace(/[^/]+$/, ""), { recursive: true });
    if (text === UNREADABLE) await Deno.symlink("/proc/self/mem", file);
    else if (text.startsWith("->")) await Deno.symlink(text.slice(2), file);
    else await Deno.writeTextFile(file, text);
    if (path.includes("/bin/")) await Deno.chmod(file, 0o755);
  }

  /** Starts a sensor as its unit does. */
  start(sensor: string, env: Record<string, string> = {}): Process {
    return new Process(...this.#command([...RUN_SENSOR, sensor], env));
  }

  /** Runs a shell command until it ends. */
  run(command: string): Promise<Output> {
    return output(...this.#command(["sh", "-c", command]));
  }

  #command(
    command: string[],
    env: Record<string, string> = {},
  ): ConstructorParameters<typeof Process> {
    const variables = Object.entries({ ...env, ...ENV })
      .map(([name, value]) => `${name}=${value}`);
    // What this machine sets, such as PYTHONUNBUFFERED, would hide what the unit does not
    const run = ["env", "-i", ...variables, ...command];
    const [first, ...args] = [...ON_BOARD, this.#root.path, PACKAGE, ...run];
    return [first!, args, { killGroup: true }];
  }

  [Symbol.dispose](): void {
    this.#root.remove();
  }
}

/** Returns files in a folder. */
export function inFolder(folder: string, files: Files): Files {
  return Object.fromEntries(
    Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]),
  );
}

/** Returns the file w1_slave of a DS18B20, by default one of 21.5 °C. */
export function ds18b20(
  id: string,
  { memory = "58 01 4b 46 7f ff 0c 10 4c", crc = "YES", t = 21500 } = {},
): Files {
  return {
    [`/sys/bus/w1/devices/${id}/w1_slave`]:
      `${memory} : crc=4c ${crc}\n${memory} t=${t}\n`,
  };
}

/** Returns the files of a device that the kernel knows. */
export function iio(number: number, name: string, files: Files): Files {
  const folder = `/sys/bus/iio/devices/iio:device${number}`;
  return inFolder(folder, { name: `${name}\n`, ...files });
}

/** The files of two sensors, as the kernel shows them. */
export const BME280: Files = {
  in_temp_input: "21560\n",
  in_humidityrelative_input: "40216\n",
  in_pressure_input: "101.325261718\n",
  in_temp_oversampling_ratio: "2\n",
};
export const DHT22: Files = {
  in_temp_input: "-3500\n",
  in_humidityrelative_input: "81000\n",
};
