import type { Policy } from "../../../src/entries/index.ts";
import {
  calendarWindow,
  concurrency,
  fixedWindow,
  gcra,
  leakyBucket,
  slidingWindow,
} from "../../../src/entries/index.ts";
import type { Random } from "../../simulator/world/random.ts";
import type { Kind } from "./oracle.ts";
import type { Answer, Terms, Verb } from "./oracle-law.ts";

export interface Step {
  waitMs: number;
  verb: Verb;
  cost: number;
  terms: Terms;
  policy: Policy;
}

const LIMITS = [0, 1, 2, 3, 7, 10, 13, 25];
const SPANS_MS = [1, 7, 10, 100, 100, 250, 999, 1000];
const COSTS = [1, 1, 1, 1, 1, 0, 2, 3, 5, 12];
const WAITS_MS = [0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 9, 17, 50, 99, 100, 101, 250, 1001, -1, -2, -60, -1500];

const HOUR_MS = 3_600_000;
/** Calendars. Zones of one `every` and `startsAt` are as the rules of one zone in processes with other data. */
const CALENDARS = [
  ["day", 0],
  ["day", 0],
  ["day", 6],
  ["week", 1],
  ["month", 1],
] as const;
/** By POSIX, Etc/GMT-14 is 14 hours ahead. */
const HOURS_AHEAD = [0, 1, 1, 1, 2, 14, -11];

/** A policy of a kind and its oracle's terms, for random limits and spans. */
export function randomTerms(kind: Kind, random: Random): Pick<Step, "terms" | "policy"> {
  const limit = random.pick(LIMITS);
  const spanMs = random.pick(SPANS_MS);
  const terms = { limit, spanMs, rate: 1 };
  if (kind === "calendar-window") {
    const [every, startsAt] = random.pick(CALENDARS);
    const hours = random.pick(HOURS_AHEAD);
    const timeZone = hours === 0 ? "UTC" : `Etc/GMT${hours > 0 ? "-" : "+"}${Math.abs(hours)}`;
    const calendar = { every, startsAt, aheadMs: hours * HOUR_MS };
    return { terms: { ...terms, calendar }, policy: calendarWindow({ limit, every, startsAt, timeZone }) };
  }
  if (kind === "sliding-window") return { terms, policy: slidingWindow({ limit, span: spanMs }) };
  if (kind === "concurrency") return { terms, policy: concurrency({ limit, lease: spanMs }) };
  if (kind === "leaky-bucket")
    return {
      terms: { ...terms, rate: Math.max(1, limit) },
      policy: leakyBucket({ capacity: limit, span: spanMs }),
    };
  if (kind === "gcra") {
    const burst = random.pick(LIMITS);
    return {
      terms: { limit: limit === 0 ? 0 : burst, spanMs, rate: Math.max(1, limit) },
      policy: gcra({ limit, burst, span: spanMs }),
    };
  }
  return { terms, policy: fixedWindow({ limit, span: spanMs, aligned: kind.endsWith("aligned") }) };
}

/** Random steps with a policy of their own, which some calls change; time steps back now and then. */
export class Trace {
  readonly #kind: Kind;
  readonly #random: Random;
  readonly usual: Pick<Step, "terms" | "policy">;
  readonly #coming: Step[] = [];
  #lent = 0;

  constructor(kind: Kind, random: Random) {
    this.#kind = kind;
    this.#random = random;
    this.usual = randomTerms(kind, random);
  }

  next(): Step {
    return this.#coming.shift() ?? this.#step();
  }

  /** The answer of a step. A denial is sometimes repeated 1 ms before its end, and at its end. */
  note(step: Step, answer: Answer): void {
    if (step.verb === "take" && answer.allowed && step.cost > 0) this.#lent++;
    const { retryAfterMs } = answer;
    if (
      step.verb !== "take" ||
      answer.allowed ||
      retryAfterMs === Number.POSITIVE_INFINITY ||
      !this.#random.chance(0.1)
    )
      return;
    this.#coming.push({ ...step, verb: "peek", waitMs: retryAfterMs - 1 }, { ...step, verb: "peek", waitMs: 1 });
  }

  get isAsking(): boolean {
    return this.#coming.length > 0;
  }

  #step(): Step {
    const random = this.#random;
    const { terms, policy } = random.chance(0.9) ? this.usual : randomTerms(this.#kind, random);
    const verb = random.chance(0.8) ? "take" : random.pick(["peek", "penalty", "reward", "release"] as const);
    const cost = verb === "release" ? random.int(Math.max(0, this.#lent - 5), this.#lent) : random.pick(COSTS);
    const waitMs = random.pick(WAITS_MS) * (this.#kind === "calendar-window" ? HOUR_MS / 10 : 1);
    return { waitMs, verb, cost, terms, policy };
  }
}
