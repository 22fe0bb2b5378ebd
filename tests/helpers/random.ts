// Properties: what must hold for any input, tried with many random ones.

/** Choices that only depend on a seed. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1);
  }

  /** Returns an integer from 0 to below a limit. */
  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return Math.floor(this.#state / 2 ** 32 * limit);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }
}

/** Tests a property with each seed. A failure names the seed. */
export function testProperty(
  name: string,
  seeds: number,
  check: (random: Random) => void | Promise<void>,
): void {
  Deno.test(name, async () => {
    for (let seed = 0; seed < seeds; seed++) {
      try {
        await check(new Random(seed));
      } catch (error) {
        throw new Error(`The property fails with seed ${seed}`, {
          cause: error,
        });
      }
    }
  });
}
