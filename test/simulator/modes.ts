import { type StructureName, structures } from "../matrix/structures.ts";
import type { Random } from "./world/random.ts";

/** Options of a structure, one value for each mode of the matrix. */
export type Modes = Readonly<Record<string, unknown>>;

/** Draws one value of every mode that the matrix has for a structure: a new mode there is played here without a change. */
export function modesOf(random: Random, structure: StructureName = "series"): Modes {
  const { modes } = structures[structure];
  return Object.fromEntries(Object.entries(modes).map(([mode, values]) => [mode, random.pick(values) ?? undefined]));
}

/** Options that no schedule gives to a series, and why. */
export const UNPLAYED: Record<string, string> = {
  nan: "every recorded value is a number of its own, by which the books know it",
  resolution: "the books know recorded values to the bit; rounding is before the first step",
  maxPendingBytes: "a bound of this process's memory; no step sees it",
  maxResidentBytes: "a bound of this process's memory; no step sees it",
};
