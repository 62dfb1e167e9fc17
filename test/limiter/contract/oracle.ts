import { CalendarQuota } from "./oracle-calendar.ts";
import type { Answer, Law, Terms, Verb } from "./oracle-law.ts";
import { Concurrency, Leaky } from "./oracle-levels.ts";
import { Fixed, Sliding } from "./oracle-windows.ts";

/** One policy of one id, by its definition alone: src/limits/limiter/policies.ts. Shares no code with what it tests. */
export class Oracle {
  readonly #law: Law;

  constructor(kind: Kind) {
    this.#law = LAWS[kind]();
  }

  step(nowMs: number, verb: Verb, cost: number, terms: Terms): Answer {
    const law = this.#law;
    law.look(nowMs, terms);
    let wanted = cost;
    if (verb !== "take" && verb !== "peek") {
      if (verb === "penalty" && cost > 0 && !(law instanceof Concurrency)) law.take(cost);
      if (verb === "reward") law.back(cost);
      if (verb === "release") law.release(cost);
      law.look(nowMs, terms); // reports the level without a change
      wanted = 1;
    }
    const allowed = wanted === 0 || wanted <= law.free();
    const retryAfterMs = allowed ? 0 : law.waitMs(wanted);
    if (allowed && verb === "take" && cost > 0) law.take(cost);
    return { allowed, remaining: Math.max(0, law.free()), retryAfterMs, resetAfterMs: law.resetMs() };
  }
}

export type Kind = keyof typeof LAWS;

export const LAWS = {
  "fixed-window": () => new Fixed(false),
  "fixed-window, aligned": () => new Fixed(true),
  "sliding-window": () => new Sliding(),
  "leaky-bucket": () => new Leaky(),
  gcra: () => new Leaky(),
  concurrency: () => new Concurrency(),
  "calendar-window": () => new CalendarQuota(),
};

export const KINDS = Object.keys(LAWS) as Kind[];
