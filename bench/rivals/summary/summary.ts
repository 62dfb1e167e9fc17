import { createRequire } from "node:module";
import { ddSketch } from "./dd-sketch.ts";
import { tDigest } from "./t-digest.ts";

const require = createRequire(import.meta.url);

/** Describes values in fewer bytes, and answers percentiles with an error. */
export interface Summary {
  readonly name: string;
  /** The setting of its size and error. A smaller one takes more bytes. */
  readonly setting: string;
  /** The default of its package. */
  readonly usual: number;
  /** Package that must be installed. */
  readonly module: string;
  /** All values, positive, in the fewest bytes that its contents take in a plain form. */
  encode(values: Float32Array, setting: number): Uint8Array;
  /** Answers from what `encode` wrote and nothing else. */
  percentiles(stored: Uint8Array, percentiles: readonly number[]): number[];
}

export const SUMMARIES: readonly Summary[] = [ddSketch, tDigest];

/** Why a summary cannot be used, or undefined when it can. */
export function summaryMissing({ module }: Summary): string | undefined {
  try {
    require.resolve(module);
    return undefined;
  } catch {
    return `${module} is not installed (npm ci in bench/)`;
  }
}
