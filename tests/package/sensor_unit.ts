// deno-lint-ignore-file camelcase -- the keys are names of files

// A board's files, on which the package's programs run as in the sensor's unit.

import { Folder } from "../helpers/files.ts";
import { type Output, output, Process } from "../helpers/process.ts";

const PACKAGE = "src/board/package";

/** The variables that the sensor's unit sets. */
const VARIABLES = Object.fromEntries(
  Array.from(
    (await Deno.readTextFile(
      `${PACKAGE}/usr/lib/systemd/system/datasensor-sensor.service`,
    )).matchAll(/^Environment=(\w+)=(.*)$/gm),
    ([, name, value]) => [name!, value!],
  ),
);

/** The folders of a board that tests replace. */
const REPLACED =
  /\/(etc|sys|proc|usr\/lib\/datasensor|usr\/local\/bin|home)\//g;

/** A file whose reads fail with EIO, as those of a sensor that does not answer. */
export const UNREADABLE = Symbol();

/**
 * The files of a board, by their paths. Those in `/usr/local/bin` and `bin` are programs,
 * and a text that begins with `->` is where a symbolic link leads.
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
    const programs = `${PACKAGE}/usr/lib/datasensor`;
    for await (const { name } of Deno.readDir(programs)) {
      const text = await Deno.readTextFile(`${programs}/${name}`);
      await unit.#write(`/usr/lib/datasensor/${name}`, unit.#adapt(text));
    }
    for (const [path, text] of Object.entries(files)) {
      await unit.#write(path, text);
    }
    return unit;
  }

  /** Returns a text that leads to the files of this board. */
  #adapt(text: string): string {
    return text.replace(REPLACED, (folder) => this.#root.path + folder);
  }

  async #write(path: string, text: Files[string]): Promise<void> {
    const file = this.#root.path + path;
    await Deno.mkdir(file.replace(/[^/]+$/, ""), { recursive: true });
    if (text === UNREADABLE) await Deno.symlink("/proc/self/mem", file);
    else if (text.startsWith("->")) await Deno.symlink(text.slice(2), file);
    else await Deno.writeTextFile(file, text);
    const isProgram = /\/(bin|usr\/lib\/datasensor)\//.test(path);
    if (isProgram) await Deno.chmod(file, 0o755);
  }

  /** The variables of the unit, on a German board with programs in /usr/local/bin. */
  get #env(): Record<string, string> {
    const path = `${this.#root.path}/usr/local/bin:${Deno.env.get("PATH")}`;
    return { LC_ALL: "de_DE.UTF-8", ...VARIABLES, PATH: path };
  }

  /** Starts a sensor as the unit does, with its settings. */
  start(
    sensor: string,
    settings: Record<string, string> = { FLAGS: "--stdin --json" },
  ): Process {
    const env = { ...this.#env, SENSOR: this.#adapt(sensor), ...settings };
    const run = `${this.#root.path}/usr/lib/datasensor/run-sensor`;
    return new Process(run, [], { env, killGroup: true });
  }

  /** Runs a shell command until it ends, and returns its output with the board's paths. */
  async run(
    command: string,
  ): Promise<Pick<Output, "code" | "stdout" | "stderr">> {
    const args = ["-c", this.#adapt(command)];
    const options = { env: this.#env, killGroup: true };
    const { code, stdout, stderr } = await output("sh", args, options);
    return { code, stdout, stderr: stderr.replaceAll(this.#root.path, "") };
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
