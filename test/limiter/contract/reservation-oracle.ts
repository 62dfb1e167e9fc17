import { type Kind, LAWS } from "./oracle.ts";
import type { Law, Terms } from "./oracle-law.ts";

const GRACE_MS = 60_000;

export interface Budget {
  kind: Kind;
  terms: Terms;
}

interface Hold {
  id: number;
  endMs: number;
  isSettled: boolean;
  isChargedAtEnd: boolean;
  reserved: number[];
  charged: number[];
}

export interface Answer {
  allowed: boolean;
  retryAfterMs: number;
  policies: { allowed: boolean; remaining: number; retryAfterMs: number }[];
}

/**
 * Limiters with reservations, by the definition alone. Permits are set aside until a lease ends. A charge moves them into the window of
 * its moment. At the end the rest is free, or moves into the window of that moment. Shares no code with what it tests.
 */
export class ReservationOracle {
  readonly #budgets: readonly (readonly Budget[])[];
  readonly #laws: Law[][];
  readonly #holds: Hold[][];
  #nowMs = 0;

  constructor(budgets: readonly (readonly Budget[])[]) {
    this.#budgets = budgets;
    this.#laws = budgets.map((own) => own.map(({ kind }) => LAWS[kind]()));
    this.#holds = budgets.map(() => []);
  }

  /** Lets time pass: leases end in their order. */
  goTo(nowMs: number): void {
    for (const [l, holds] of this.#holds.entries()) {
      const ended = holds.filter((hold) => !hold.isSettled && hold.isChargedAtEnd && hold.endMs <= nowMs);
      for (const hold of ended.sort((a, b) => a.endMs - b.endMs)) {
        for (const p of this.#budgets[l]!.keys()) {
          const rest = this.#restOf(l, p, hold);
          this.#take(l, p, hold.endMs, this.#isLent(l, p) ? 0 : rest);
          hold.charged[p]! += rest;
        }
      }
      this.#holds[l] = holds.filter(({ endMs }) => endMs > nowMs - GRACE_MS);
    }
    this.#nowMs = nowMs;
  }

  ask(limiters: readonly number[], costs: readonly (readonly number[])[], isTaken: boolean): Answer {
    const asked = limiters.flatMap((l, i) => this.#budgets[l]!.map((_, p) => [l, p, costs[i]![p]!] as const));
    const answers = asked.map(([l, p, cost]) => {
      const allowed = cost === 0 || cost <= this.#free(l, p);
      return { allowed, retryAfterMs: allowed ? 0 : this.#waitMs(l, p, cost) };
    });
    const allowed = answers.every((one) => one.allowed);
    if (allowed && isTaken) for (const [l, p, cost] of asked) this.#take(l, p, this.#nowMs, cost);
    return {
      allowed,
      retryAfterMs: Math.max(...answers.map(({ retryAfterMs }) => retryAfterMs)),
      policies: asked.map(([l, p], i) => ({ ...answers[i]!, remaining: Math.max(0, this.#free(l, p)) })),
    };
  }

  reserve(
    id: number,
    limiters: readonly number[],
    costs: readonly (readonly number[])[],
    leaseMs: number,
    isChargedAtEnd: boolean,
  ): Answer {
    const answer = this.ask(limiters, costs, false);
    if (!answer.allowed) return answer;
    for (const [i, l] of limiters.entries()) {
      const reserved = [...costs[i]!];
      const charged = reserved.map(() => 0);
      this.#holds[l]!.push({ id, endMs: this.#nowMs + leaseMs, isSettled: false, isChargedAtEnd, reserved, charged });
    }
    const { policies } = this.ask(
      limiters,
      costs.map((own) => own.map(() => 0)),
      false,
    );
    return { ...answer, policies: answer.policies.map((one, i) => ({ ...one, remaining: policies[i]!.remaining })) };
  }

  /** Undefined if nothing is open. `leaseMs`: undefined for a settlement. */
  charge(
    id: number,
    limiters: readonly number[],
    totals: readonly (readonly number[])[],
    leaseMs: number | undefined,
  ): { charged: number; debt: number }[] | undefined {
    const all = limiters.map((l) => this.#holds[l]!.find((hold) => hold.id === id && !hold.isSettled));
    if (all.every((hold) => hold === undefined)) return undefined;
    for (const [i, l] of limiters.entries()) {
      const hold = all[i];
      if (!hold) continue;
      for (const p of this.#budgets[l]!.keys()) {
        const due = this.#isLent(l, p) ? 0 : Math.max(0, totals[i]![p]! - hold.charged[p]!);
        this.#take(l, p, this.#nowMs, due);
        hold.charged[p] = this.#isLent(l, p) ? 0 : hold.charged[p]! + due;
      }
      if (leaseMs === undefined) hold.isSettled = true;
      else if (hold.endMs > this.#nowMs) hold.endMs = this.#nowMs + leaseMs;
    }
    return limiters.flatMap((l, i) =>
      this.#budgets[l]!.map(({ terms }, p) => {
        this.#laws[l]![p]!.look(this.#nowMs, terms);
        const charged = this.#isLent(l, p) ? 0 : (all[i]?.charged[p] ?? 0);
        return { charged, debt: Math.max(0, -this.#laws[l]![p]!.free()) };
      }),
    );
  }

  /** Takes permits even if they are not free. */
  penalty(l: number, permits: number): void {
    for (const p of this.#budgets[l]!.keys()) if (!this.#isLent(l, p)) this.#take(l, p, this.#nowMs, permits);
  }

  reset(l: number): void {
    this.#laws[l] = this.#budgets[l]!.map(({ kind }) => LAWS[kind]());
    this.#holds[l] = [];
  }

  #isLent(l: number, p: number): boolean {
    return this.#budgets[l]![p]!.kind === "concurrency";
  }

  #take(l: number, p: number, atMs: number, permits: number): void {
    const law = this.#laws[l]![p]!;
    law.look(atMs, this.#budgets[l]![p]!.terms);
    if (permits > 0) law.take(permits);
  }

  #restOf(l: number, p: number, hold: Hold): number {
    return this.#isLent(l, p) ? hold.reserved[p]! : Math.max(0, hold.reserved[p]! - hold.charged[p]!);
  }

  #heldAt(l: number, p: number, ms: number): number {
    const open = this.#holds[l]!.filter((hold) => !hold.isSettled && hold.endMs > ms);
    return open.reduce((sum, hold) => sum + this.#restOf(l, p, hold), 0);
  }

  #free(l: number, p: number): number {
    const law = this.#laws[l]![p]!;
    law.look(this.#nowMs, this.#budgets[l]![p]!.terms);
    return law.free() - this.#heldAt(l, p, this.#nowMs);
  }

  /** The first moment at which what is left of the window and what is then still set aside leave room. */
  #waitMs(l: number, p: number, cost: number): number {
    const law = this.#laws[l]![p]!;
    law.look(this.#nowMs, this.#budgets[l]![p]!.terms);
    const ownMs = (permits: number) => (permits <= law.free() ? 0 : law.waitMs(permits));
    const ends = this.#holds[l]!.map(({ endMs }) => endMs).filter((endMs) => endMs > this.#nowMs);
    const times = [this.#nowMs, ...ends];
    const moments = [...times, ...times.map((ms) => this.#nowMs + ownMs(cost + this.#heldAt(l, p, ms)))];
    const fits = moments.filter((ms) => this.#nowMs + ownMs(cost + this.#heldAt(l, p, ms)) <= ms);
    return Math.min(...fits) - this.#nowMs;
  }
}
