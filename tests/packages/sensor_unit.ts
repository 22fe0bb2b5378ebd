// deno-lint-ignore-file camelcase -- the keys are names of files and commands

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
const REPLACED = /\/(sys|proc|usr\/lib\/datasensor|usr\/local\/bin|home)\//g;

/** What a sensor finds on a board: the package's programs, and files like the kernel's. */
export class SensorUnit implements Disposable {
  readonly #root: Folder;

  static async create(): Promise<SensorUnit> {
    const unit = new SensorUnit(await Folder.create());
    const programs = `${PACKAGE}/usr/lib/datasensor`;
    for await (const { name } of Deno.readDir(programs)) {
      const text = await Deno.readTextFile(`${programs}/${name}`);
      await unit.writeProgram(`/usr/lib/datasensor/${name}`, text);
    }
    return unit;
  }

  private constructor(root: Folder) {
    this.#root = root;
  }

  /** Returns a text that leads to the files of this board. */
  adapt(text: string): string {
    return text.replace(REPLACED, (folder) => this.#root.path + folder);
  }

  /** Writes a file. What is not given cannot be read. */
  async write(path: string, text: string | undefined): Promise<void> {
    const file = this.#root.path + path;
    await Deno.mkdir(file.replace(/[^/]+$/, ""), { recursive: true });
    if (text !== undefined) await Deno.writeTextFile(file, text);
    // Reading its beginning fails with EIO, as that of a sensor that does not answer
    else await Deno.symlink("/proc/self/mem", file);
  }

  /** Writes a program, which finds the files of this board. */
  async writeProgram(path: string, text: string): Promise<void> {
    await this.write(path, this.adapt(text));
    await Deno.chmod(this.#root.path + path, 0o755);
  }

  /** Creates a symbolic link, as the kernel does. */
  async link(path: string, target: string): Promise<void> {
    await this.write(path, "");
    await Deno.remove(this.#root.path + path);
    await Deno.symlink(target, this.#root.path + path);
  }

  async remove(path: string): Promise<void> {
    await Deno.remove(this.#root.path + path, { recursive: true });
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
    const env = { ...this.#env, SENSOR: this.adapt(sensor), ...settings };
    const run = `${this.#root.path}/usr/lib/datasensor/run-sensor`;
    return new Process(run, [], { env, killGroup: true });
  }

  /** Runs a shell command until it ends. */
  async run(
    command: string,
  ): Promise<Pick<Output, "code" | "stdout" | "stderr">> {
    const args = ["-c", this.adapt(command)];
    const { code, stdout, stderr } = await output("sh", args, {
      env: this.#env,
      killGroup: true,
    });
    return { code, stdout, stderr };
  }

  [Symbol.dispose](): void {
    this.#root.remove();
  }
}

/** The files of sensors that the kernel knows, as it shows them. */
export const BME280 = {
  name: "bme280\n",
  in_temp_input: "21560\n",
  in_humidityrelative_input: "40216\n",
  in_pressure_input: "101.325261718\n",
  in_temp_oversampling_ratio: "2\n",
};
export const DHT22 = {
  name: "dht11@4\n",
  in_temp_input: "-3500\n",
  in_humidityrelative_input: "81000\n",
};
export const BH1750 = {
  name: "bh1750\n",
  in_illuminance_raw: "120\n",
  in_illuminance_scale: "0.833333\n",
};
export const HDC1080 = {
  name: "hdc100x\n",
  in_temp_raw: "25800\n",
  in_temp_scale: "2.517700195\n",
  in_temp_offset: "-15887.515151\n",
  in_humidityrelative_raw: "32768\n",
  in_humidityrelative_scale: "1.525878906\n",
};
export const MLX90614 = {
  name: "mlx90614\n",
  in_temp_ambient_raw: "14900\n",
  in_temp_object_raw: "14700\n",
  in_temp_scale: "20\n",
  in_temp_offset: "-13657.500000\n",
};

/** Adds an IIO device, on a bus and at an address as of I2C. */
export async function addDevice(
  unit: SensorUnit,
  number: number,
  files: Record<string, string | undefined>,
): Promise<string> {
  const name = `iio:device${number}`;
  const folder = `/sys/devices/i2c-1/1-007${number}/${name}`;
  for (const [file, text] of Object.entries(files)) {
    await unit.write(`${folder}/${file}`, text);
  }
  await unit.link(
    `/sys/bus/iio/devices/${name}`,
    folder.replace("/sys", "../../.."),
  );
  return folder;
}

/** Returns the file w1_slave of a DS18B20 with a temperature of 21.5 °C. */
export function formatDs18b20(
  { memory = "58 01 4b 46 7f ff 0c 10 4c", result = "YES", t = 21500 } = {},
): string {
  return `${memory} : crc=4c ${result}\n${memory} t=${t}\n`;
}

export const DS18B20 = "/sys/bus/w1/devices";
