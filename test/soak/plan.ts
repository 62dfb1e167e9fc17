import type { SeriesOptions } from "../../src/engine/series/series-options.ts";
import type { Script } from "../../src/store/contract.ts";

export interface SoakPlan {
  /** How long the load lasts, the start of its processes included. */
  seconds: number;
  /** The load lasts until this many events are acknowledged, so that a slow machine has as much to judge. */
  minEvents: number;
  workers: number;
  /** Number of processes that are never killed, so that their memory is sampled from the first second to the last. */
  spared: number;
  series: number;
  /** One process is killed, on average, this often, ms; 0: none. */
  killEveryMs: number;
  /** Lowers the priority below other tests of this machine. */
  isPolite: boolean;
  /** Wait at the end until everything has expired. */
  seesEnd: boolean;
  /** Scripts with a fault that the soak must find, by step; see plants.ts. */
  scripts?: Record<string, Script>;
}

/** `npm run test:all`: small, with every part. */
export const SHORT: SoakPlan = {
  seconds: 14,
  minEvents: 2000,
  workers: 4,
  spared: 2,
  series: 1000,
  killEveryMs: 2000,
  isPolite: true,
  seesEnd: false,
};

/** `npm run soak`. */
export const LONG: SoakPlan = {
  seconds: 600,
  minEvents: 10_000,
  workers: 8,
  spared: 2,
  series: 10_000,
  killEveryMs: 4000,
  isPolite: false,
  seesEnd: true,
};

/** Bound on the copies that one process keeps. */
export const MAX_RESIDENT_BYTES = 16 << 20;

const RETENTIONS_MS = [10_000, 30_000, 90_000];
/** Longer than the longest retention + chunk + 60 s, after which a journal without writers is gone. */
const REST_MS = 155_000;
const RESTING_GROUPS = 3;
/** Numbers that one process may draw in one series: number and process fit the 24 bits of a float32. */
const SHARE = 2 ** 15;

export function nameOf(index: number): string {
  return `soak:${index}`;
}

export function retentionMsOf(index: number): number {
  return RETENTIONS_MS[index % RETENTIONS_MS.length]!;
}

export function optionsOf(index: number): SeriesOptions {
  return {
    retention: retentionMsOf(index),
    values: Math.floor(index / 2) % 2 === 0 ? "float32" : "float64",
    maxResidentBytes: MAX_RESIDENT_BYTES,
  };
}

/** A third of the series at a time, the first after REST_MS, has no writer for so long that its journals expire. */
export function isResting(index: number, sinceStartMs: number): boolean {
  return Math.floor(sinceStartMs / REST_MS) % (RESTING_GROUPS + 1) === 1 + (Math.floor(index / 12) % RESTING_GROUPS);
}

/** The value that one process records as its `nth` of a series; no other event of the series has it. */
export function eventOf(worker: number, nth: number): number {
  if (nth >= SHARE || worker >= 2 ** 24 / SHARE)
    throw new RangeError(`event ${nth} of process ${worker}: no number left`);
  return worker * SHARE + nth;
}
