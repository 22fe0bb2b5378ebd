// Random values that can be repeated.

/** The seed of all random values. Set DATASENSOR_SEED to repeat a run. */
export const SEED = Number(Deno.env.get("DATASENSOR_SEED") ?? Date.now() % 1e9);

/** Returns random numbers from 0 up to 1. */
export type Random = () => number;

/** Creates a generator of random numbers (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
