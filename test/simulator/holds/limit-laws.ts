import { KIND, MODE } from "../../../src/generated/layouts/limiter.ts";
import { type LentPermit, tokenOf } from "../../../src/limits/limiter/steps/concurrency.ts";
import type { DecideReply, DecideRequest } from "../../../src/limits/limiter/steps/decide.ts";
import type { Rule } from "../../../src/limits/limiter/steps/rule.ts";
import type { Step } from "../world/server.ts";
import type { Actor, Stage } from "./stage.ts";

/** The permits of one id by the definition of its policies, kept beside the code under test. */
interface LimitBook {
  readonly rules: readonly Rule[];
  readonly suffixes: readonly string[];
  /** In the order in which their leases end. Those that have ended are removed when the list is written. */
  lent: LentPermit[];
  /** Of the rate, in permits times ms, at a time. */
  level: number;
  atMs: number;
  /** Since when the first waiter could have been served. */
  idleSinceMs: number | undefined;
  /** Processes that had died before. */
  deathsBefore: number;
}

/** A caller that has a permit. */
interface Inside {
  readonly actor: Actor;
  readonly key: string;
  readonly permit: string;
  readonly cost: number;
  readonly untilMs: number;
  readonly askedMs: number;
}

/** The caller that is next asks so often, and each has a few round trips until it does. */
const LONGEST_IDLE_MS = 250;
/** The turn of a dead process ends after this time, and those that wait ask again. */
const DEAD_TURN_MS = 6500;
/** A process that has missed a message looks so often. */
const LONGEST_LOOK_MS = 16_100;

/**
 * The laws of permits that `acquire` lends. Never more are lent than the limit, until their release or the end of their lease. A
 * call that all policies allow is charged to all of them. Any other is charged to none. Nobody is refused who could be served. A
 * permit belongs to one caller. A caller that could be served does not wait. A dead process that was next costs the others the
 * lease of its turn.
 */
export class LimitLaws {
  readonly #books = new Map<string, LimitBook>();
  readonly #granted = new Map<string, number>();
  readonly #inside = new Map<string, Inside>();
  readonly #stage: Stage;
  longestIdleMs = 0;
  /** Permits that were lent until then may be lost. */
  #unsafeUntilMs = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  onStep({ key, input, output, error, nowMs }: Step): void {
    if (error !== undefined) {
      this.#violation(key, `a step fails with ${error}`);
      return;
    }
    const { mode, calls, rules, token, keySuffixes } = input as DecideRequest;
    const { granted } = output as DecideReply;
    const book = this.#bookOf(key, rules, keySuffixes);
    expire(book, nowMs);
    const [{ cost }] = rules as [Rule];
    if (mode === MODE.release) {
      const running = alive(book, nowMs);
      const released = running.find((each) => each.token === token);
      if (released) book.lent = running.filter((each) => each !== released);
    } else {
      const fit = Math.max(0, Math.min(calls, Math.floor(freeOf(book, nowMs) / cost)));
      if (granted > fit) this.#violation(key, `${granted} of ${calls} calls of ${cost} pass, and ${fit} fit`);
      if (granted < fit) this.#violation(key, `${granted} of ${calls} calls of ${cost} pass, and ${fit} would fit`);
    }
    if (mode === MODE.take && granted > 0) {
      const [{ spanMs }] = rules as [Rule];
      const expireAtMs = nowMs + spanMs;
      const added = Array.from({ length: granted }, (_, i) => ({
        token: tokenOf(token, i),
        expireAtMs,
        permits: cost,
      }));
      book.lent = [...alive(book, nowMs), ...added].sort((a, b) => a.expireAtMs - b.expireAtMs);
      for (const each of added) this.#granted.set(each.token, expireAtMs);
      book.level = levelAt(book, nowMs) + granted * cost * (rateOf(book)?.spanMs ?? 0);
      book.atMs = Math.max(book.atMs, nowMs);
      book.idleSinceMs = undefined;
    }
    this.#compare(key, book, nowMs);
    for (const [permit, { untilMs }] of this.#inside) if (untilMs <= nowMs) this.#inside.delete(permit);
  }

  /** The server has lost data: its own state counts. */
  onLoss(): void {
    this.#unsafeUntilMs = this.#stage.world.nowMs;
    this.#inside.clear();
    for (const [key, book] of this.#books) {
      const [lent, rate] = this.#stored(key, book);
      Object.assign(book, { lent: lent?.lent ?? [], level: rate?.level ?? 0, atMs: rate?.atMs ?? 0 });
    }
  }

  /** A caller has got its permit. */
  enter(actor: Actor, key: string, permit: string | undefined, cost: number, askedMs: number): void {
    const untilMs = this.#granted.get(permit ?? "");
    if (permit === undefined || untilMs === undefined) {
      this.#violation(key, `${permit} was got, and not lent to this caller`);
      return;
    }
    // A second caller finds nothing.
    this.#granted.delete(permit);
    if (askedMs <= this.#unsafeUntilMs || untilMs <= this.#stage.server.nowMs) return;
    this.#inside.set(permit, { actor, key, permit, cost, untilMs, askedMs });
    let used = 0;
    for (const inside of this.#inside.values())
      if (inside.key === key && inside.actor.process.state === "running") used += inside.cost;
    if (used > this.#stage.plan.limit) this.#violation(key, `${used} of ${this.#stage.plan.limit} permits are inside`);
  }

  leave(permit: string): void {
    this.#inside.delete(permit);
  }

  /** How long a caller could have been served, even the one that asks for most. */
  checkIdle(): void {
    const { world, server, plan, calls, actors } = this.#stage;
    for (const [key, book] of this.#books) {
      let most = 0;
      for (const call of calls)
        if (call.key === `${key}!turn` && call.isWaiting && call.waitMs > 0 && call.actor.process.state === "running")
          most = Math.max(most, call.permits);
      if (most === 0 || freeOf(book, server.nowMs) < most) {
        book.idleSinceMs = undefined;
        continue;
      }
      const deaths = actors.filter(({ process }) => process.state === "dead").length;
      if (book.idleSinceMs === undefined) Object.assign(book, { idleSinceMs: world.nowMs, deathsBefore: deaths });
      const idleMs = world.nowMs - book.idleSinceMs!;
      if (!plan.isCalm) continue;
      this.longestIdleMs = Math.max(this.longestIdleMs, idleMs);
      const hasDeaths = plan.kills > 0 || plan.killsAtSend > 0;
      const deadMs = hasDeaths ? DEAD_TURN_MS * (1 + deaths - book.deathsBefore) : 0;
      const lostMs = plan.lostNews > 0 ? LONGEST_LOOK_MS : 0;
      if (idleMs > LONGEST_IDLE_MS + deadMs + lostMs)
        this.#violation(key, `for ${idleMs} ms the next caller could have been served`);
    }
  }

  #bookOf(key: string, rules: readonly Rule[], suffixes: readonly string[]): LimitBook {
    let book = this.#books.get(key);
    if (!book) {
      book = { rules, suffixes, lent: [], level: 0, atMs: 0, idleSinceMs: undefined, deathsBefore: 0 };
      this.#books.set(key, book);
    }
    return book;
  }

  #stored(key: string, { suffixes }: LimitBook) {
    return suffixes.map((suffix) => this.#stage.server.version(key + suffix)?.value) as [
      { lent: readonly LentPermit[] } | undefined,
      { level: number; atMs: number } | undefined,
    ];
  }

  /** The stored states are those that were charged, under each policy. */
  #compare(key: string, book: LimitBook, nowMs: number): void {
    const [lent, rate] = this.#stored(key, book);
    const tokensOf = (all: readonly LentPermit[]) =>
      all.map(({ token, expireAtMs }) => `${token} ${expireAtMs}`).join();
    const [its, ours] = [tokensOf(lent?.lent ?? []), tokensOf(book.lent)];
    if (its !== ours) this.#violation(key, `the permits ${its} are lent, and should be ${ours}`);
    const { rate: perMs } = rateOf(book) ?? { rate: 0 };
    const level = rate ? Math.max(0, rate.level - Math.max(0, nowMs - rate.atMs) * perMs) : 0;
    if (level !== levelAt(book, nowMs)) this.#violation(key, `the rate is at ${level}, not ${levelAt(book, nowMs)}`);
  }

  #violation(key: string, text: string): void {
    this.#stage.violation(`${key}: ${text}`);
  }
}

const rateOf = ({ rules }: LimitBook): Rule | undefined => rules.find(({ kind }) => kind === KIND.leaky);
const alive = ({ lent }: LimitBook, nowMs: number) => lent.filter(({ expireAtMs }) => expireAtMs > nowMs);

function levelAt(book: LimitBook, nowMs: number): number {
  return Math.max(0, book.level - Math.max(0, nowMs - book.atMs) * (rateOf(book)?.rate ?? 0));
}

/** The permits that all policies have left. */
function freeOf(book: LimitBook, nowMs: number): number {
  const used = alive(book, nowMs).reduce((sum, { permits }) => sum + permits, 0);
  const rate = rateOf(book);
  const left = rate ? Math.floor((rate.limit * rate.spanMs - levelAt(book, nowMs)) / rate.spanMs) : used;
  const [{ limit }] = book.rules as [Rule];
  return rate ? Math.min(limit - used, left) : limit - used;
}

/** A key goes when the last permit under it is free, also if the clock is set back later. */
function expire(book: LimitBook, nowMs: number): void {
  if ((book.lent.at(-1)?.expireAtMs ?? 0) < nowMs) book.lent = [];
  const rate = rateOf(book)?.rate;
  if (rate !== undefined && book.atMs + Math.ceil(book.level / rate) < nowMs) book.level = 0;
  if (book.level === 0) book.atMs = nowMs;
}
