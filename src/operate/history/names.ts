import type { Store } from "../../store/contract.ts";

/** One count of a limiter's decisions: those that a policy decided, or that a shadow policy would have denied. */
export interface Outcome {
  readonly outcome: "allowed" | "denied" | "shadow";
  readonly policy: string;
}

export const TIMINGS = ["lateness", "wait", "run"] as const;
export type Timing = (typeof TIMINGS)[number];

/** The series of one count of a limiter: an event for each report of a process, with the number of decisions since the last. */
export const outcomeSeries = (limiter: string, { outcome, policy }: Outcome): string =>
  nameOf("Limiter", limiter, outcome, policy);

/** The series of a queue's timings, in ms: an event for each message. */
export const timingSeries = (queue: string, timing: Timing): string => nameOf("DelayQueue", queue, timing);

/** The list of a limiter's outcomes, each as JSON. */
export const outcomesKey = (store: Keys, limiter: string): string => store.keyOf(nameOf("Limiter", limiter));

/** The base of the keys with the denied ids of a limiter. */
export const deniedKey = (store: Keys, limiter: string): string => `${store.keyOf(nameOf("Limiter", limiter))}:ids`;

/** The list of a breaker's openings, each as JSON. */
export const openingsKey = (store: Keys, breaker: string): string => store.keyOf(nameOf("Breaker", breaker));

type Keys = Pick<Store, "keyOf">;

/** JSON, so that no two structures share a name. */
function nameOf(...parts: string[]): string {
  return `history ${JSON.stringify(parts)}`;
}
