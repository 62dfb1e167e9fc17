import type { LimiterRival } from "./limiter.ts";
import { BOTTLENECK } from "./limiter-bottleneck.ts";
import { FLEXIBLE } from "./limiter-flexible.ts";
import { ORIEL_LIMITERS } from "./limiter-oriel.ts";
import { SORTED_SET } from "./limiter-sorted-set.ts";
import { UPSTASH } from "./limiter-upstash.ts";

/** The reference first, ours last. */
export const LIMITER_RIVALS: readonly LimiterRival[] = [
  FLEXIBLE,
  ...UPSTASH,
  SORTED_SET,
  BOTTLENECK,
  ...ORIEL_LIMITERS,
];
