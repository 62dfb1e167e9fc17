import type { Store } from "../../store/contract.ts";

/** The kinds of structures whose acts are counted. */
export type CountedKind = "Limiter" | "DelayQueue";

/**
 * One count of a structure. Of a limiter: the decisions of a policy, or those that a shadow policy would have denied. Of a queue,
 * with the policy "": its deliveries by what became of them.
 */
export interface Outcome {
  readonly outcome: (typeof OUTCOMES)[number];
  readonly policy: string;
}

/** In the order in which people see them. */
export const OUTCOMES = ["allowed", "denied", "shadow", "completed", "failed", "dead"] as const;

export const TIMINGS = ["lateness", "wait", "run"] as const;
export type Timing = (typeof TIMINGS)[number];

/** The ring of one count (lua/history/count.lua). All are in one slot, so a process sends its counts in one script call. */
export const ringKey = (store: Keys, kind: CountedKind, name: string, { outcome, policy }: Outcome): string =>
  `${store.keyOf(nameOf())}:${JSON.stringify([kind, name, outcome, policy])}`;

/** The list of a structure's outcomes, each as JSON. */
export const outcomesKey = (store: Keys, kind: CountedKind, name: string): string => store.keyOf(nameOf(kind, name));

/** The series of a queue's timings, in ms: an event for each message. */
export const timingSeries = (queue: string, timing: Timing): string => nameOf("DelayQueue", queue, timing);

/** The base of the keys with the denied ids of a limiter. */
export const deniedKey = (store: Keys, limiter: string): string => `${store.keyOf(nameOf("Limiter", limiter))}:ids`;

/** The list of a breaker's openings, each as JSON. */
export const openingsKey = (store: Keys, breaker: string): string => store.keyOf(nameOf("Breaker", breaker));

type Keys = Pick<Store, "keyOf">;

/** JSON, so that no two structures share a name. */
function nameOf(...parts: string[]): string {
  return `history ${JSON.stringify(parts)}`;
}
