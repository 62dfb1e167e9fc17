import type { Rival } from "./contract.ts";
import { lockedWindow } from "./locked-window.ts";
import { oriel } from "./oriel.ts";
import { numpySubprocess } from "./python/numpy-subprocess.ts";
import { sortedSets } from "./sorted-set.ts";

/** Every rival that keeps a window in Redis, oriel last. */
export const RIVALS: readonly Rival[] = [...sortedSets, numpySubprocess, lockedWindow, oriel];

export function rivalNamed(name: string): Rival {
  const rival = RIVALS.find((each) => each.name === name);
  if (!rival) throw new Error(`there is no rival ${name}`);
  return rival;
}
