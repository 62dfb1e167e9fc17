import { processOf } from "../../../src/holds/steps/state.ts";
import { type Looked, leave, look } from "../../../src/holds/steps/steps.ts";
import type { Step } from "../world/server.ts";
import { LimitLaws } from "./limit-laws.ts";
import type { Actor, Stage } from "./stage.ts";
import { fits, StepLaws, usedOf } from "./step-laws.ts";

/** A hold that a caller has, and may believe in. */
export interface Claim {
  readonly actor: Actor;
  readonly key: string;
  readonly permits: number;
  readonly limit: number;
  /** Null for permits. */
  readonly fence: number | null;
  readonly held: { readonly leftMs: number };
  readonly askedMs: number;
  isWanted: boolean;
}

/** The key of the queue of callers of `acquire`. */
const isTurn = (key: string): boolean => key.endsWith("!turn");

/** A process that lives looks after a trial, and a round trip later the next is served. */
const LONGEST_IDLE_MS = 100;
/** A waiter that has missed every message asks so often, and a round trip later it is served. */
const LONGEST_LOOK_MS = 16_100;

/**
 * The laws of each caller: a hold that its own clock proves has a running lease at the server. Excused are holds that were asked for
 * before the server's clock was set ahead, or before it lost data that no replica had to have.
 */
export class Books {
  readonly laws: StepLaws;
  readonly limits: LimitLaws;
  readonly claims = new Set<Claim>();
  /** Holds that were asked for until then may be lost, or may end early by the server's clock. */
  unsafeUntilMs = 0;
  readonly #stage: Stage;
  /** Holds that an operator has seen, and those that it has released. Their holders learn of it at the next renewal. */
  readonly #seen = new Set<string>();
  readonly #forced = new Set<string>();
  /** Since when the first waiter of a name could be served. */
  readonly #idleSinceMs = new Map<string, number>();
  /** The processes by the ids in their tokens. A process has one for each name. */
  readonly #actorOf = new Map<string, Actor>();

  constructor(stage: Stage) {
    this.#stage = stage;
    this.laws = new StepLaws(stage);
    this.limits = new LimitLaws(stage);
  }

  onStep(step: Step): void {
    const { key, origin } = step;
    if (step.operation.startsWith("limiter/")) {
      this.limits.onStep(step);
      return;
    }
    const { process } = (step.input ?? {}) as { process?: string };
    if (process !== undefined) this.#actorOf.set(process, origin as Actor);
    if (origin === this.#stage.operator) this.#onForce(step);
    this.#noteIdle(key);
    const isFirst = step.written.includes(key) && step.previous?.get(key) === undefined;
    this.laws.onStep({ ...step, isFirst });
    this.checkClaims();
    this.#noteIdle(key);
  }

  /** An operator ends the hold that it has seen, and no later one. */
  #onForce({ operation, key, input, output }: Step): void {
    if (operation === look.name) for (const { number } of (output as Looked).holds) this.#seen.add(`${key} ${number}`);
    if (operation !== leave.name) return;
    const lease = this.laws.bookOf(key).leases.get((input as { token: string }).token);
    if (!lease) return;
    this.#forced.add(`${key} ${lease.number}`);
    // The caller that was next has lost its place.
    if (lease.isTrial) this.laws.bookOf(key).missedMs = this.#stage.world.nowMs;
    if (!this.#seen.has(`${key} ${lease.number}`))
      this.#violation(key, `${lease.number} is released by force, and was not seen`);
  }

  /** The server has lost data: its own state counts. */
  onLoss(replicas: number): void {
    for (const [key, book] of this.laws.names) {
      const state = this.#stage.stateOf(key);
      book.leases.clear();
      for (const { token, number, permits, endMs, isOnTrial } of state.holds)
        book.leases.set(token, { number, permits, untilMs: endMs, isTrial: isOnTrial });
      book.waiting = [...state.places];
      // Numbers that nobody has heard of may come again. Those that a caller has got do not, unless the clock is behind them.
      if (replicas === 0) this.#lower(key);
      book.highest = Math.max(state.last, book.acquired);
      if (replicas > 0 && state.last < book.acquired)
        this.#violation(key, `a replica had to know ${book.acquired}, and knows ${state.last}`);
    }
    if (replicas === 0) this.unsafeUntilMs = this.#stage.world.nowMs;
    this.limits.onLoss();
  }

  /** The clock is set back. After a loss it may be behind numbers that were lost. */
  onStepBack(): void {
    for (const [key, book] of this.laws.names) {
      if (this.#stage.plan.replicas === 0) this.#lower(key);
      book.highest = Math.min(book.highest, Math.max(this.#stage.stateOf(key).last, book.acquired));
    }
  }

  #lower(key: string): void {
    const book = this.laws.bookOf(key);
    const lowest = this.#stage.server.nowMs * 1000 - 1;
    book.acquired = Math.min(book.acquired, Math.max(this.#stage.stateOf(key).last, lowest));
  }

  isOfLiving(token: string): boolean {
    return this.#actorOf.get(processOf(token))?.process.state === "running";
  }

  #isOf(actor: Actor, token: string): boolean {
    return this.#actorOf.get(processOf(token)) === actor;
  }

  /** What callers believe in is true at the server. */
  checkClaims(): void {
    const { server } = this.#stage;
    const permits = new Map<string, { claim: Claim; sum: number }>();
    for (const claim of this.claims) {
      const { actor, key, fence } = claim;
      if (!this.#counts(claim)) continue;
      if (fence === null) {
        const id = `${actor.process.name} ${key}`;
        const sum = (permits.get(id)?.sum ?? 0) + claim.permits;
        permits.set(id, { claim, sum });
        continue;
      }
      const lease = [...this.laws.bookOf(key).leases.values()].find(({ number }) => number === fence);
      if (!lease || lease.isTrial || lease.untilMs < server.nowMs)
        this.#violation(
          key,
          `${actor.process.name} believes in the hold ${fence}, which has ${lease ? "ended" : "gone"}`,
        );
    }
    for (const [id, { claim, sum }] of permits) {
      let permitted = 0;
      for (const [token, { isTrial, untilMs, permits: its }] of this.laws.bookOf(claim.key).leases)
        if (this.#isOf(claim.actor, token) && !isTrial && untilMs >= server.nowMs) permitted += its;
      if (sum > permitted) this.#violation(claim.key, `${id} believes in ${sum} permits, and has ${permitted}`);
    }
  }

  /** A caller has got a hold. Together with what others believe in, it is not too much. */
  claim(claim: Claim): void {
    const { key, fence } = claim;
    const book = this.laws.bookOf(key);
    // It was released by force while its answer was on the way.
    if (this.#forced.has(`${key} ${fence}`)) return;
    if (fence !== null) {
      const isSafe = claim.askedMs > this.unsafeUntilMs;
      if (isSafe && claim.limit === 1 && fence <= book.acquired)
        this.#violation(key, `the fence ${fence} is got after ${book.acquired}`);
      // A number that the server has lost while it was on its way says nothing of later ones, if the clock is behind it.
      if (isSafe) book.acquired = Math.max(book.acquired, fence);
    }
    this.claims.add(claim);
    if (!this.#counts(claim)) return;
    const others = [...this.claims].filter((each) => each !== claim && each.key === key && this.#counts(each));
    const used = others.reduce((sum, { permits }) => sum + permits, 0);
    if (used + claim.permits > claim.limit)
      this.#violation(key, `${used} of ${claim.limit} permits are believed in, and ${claim.permits} more`);
  }

  #counts({ actor, key, fence, isWanted, askedMs, held }: Claim): boolean {
    if (this.#forced.has(`${key} ${fence}`)) return false;
    return isWanted && actor.process.state === "running" && askedMs > this.unsafeUntilMs && held.leftMs > 0;
  }

  /** How long the first waiter could have been served, and nobody did it. Or nobody had it while callers waited. */
  #noteIdle(key: string): void {
    const book = this.laws.bookOf(key);
    const { world, server, plan, calls } = this.#stage;
    const [first] = book.waiting;
    const isWaited = book.waiting.some(({ token }) => this.isOfLiving(token));
    const isFree = usedOf(book, server.nowMs) === 0;
    // A caller of `acquire` has a turn only if it does not pass at once.
    const isWanted = [...calls].some(
      (call) =>
        call.key === key && !isTurn(key) && call.isWaiting && call.waitMs > 0 && call.actor.process.state === "running",
    );
    if (!((first && isWaited && fits(book, first, server.nowMs)) || (isFree && isWanted))) {
      this.#idleSinceMs.delete(key);
      return;
    }
    const sinceMs = this.#idleSinceMs.get(key) ?? world.nowMs;
    this.#idleSinceMs.set(key, sinceMs);
    const idleMs = world.nowMs - sinceMs;
    if (!plan.isCalm) return;
    const isSimple = book.isReleased && plan.kills === 0 && plan.killsAtSend === 0 && plan.lostNews === 0;
    const most = isSimple ? LONGEST_IDLE_MS : LONGEST_LOOK_MS;
    if (idleMs > most) this.#violation(key, `for ${idleMs} ms the next could have been served`);
  }

  checkIdle(): void {
    for (const key of this.laws.names.keys()) this.#noteIdle(key);
    this.limits.checkIdle();
  }

  #violation(key: string, text: string): void {
    this.#stage.violation(`${key}: ${text}`);
  }
}
