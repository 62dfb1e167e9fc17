import { corruptError } from "../../../base/errors.ts";
import {
  ENDED_LIFE_MS,
  KIND,
  MAX_NUMBER,
  MAX_RESERVATIONS,
  MAX_SETTLED,
  SETTLE_GRACE_MS,
  SETTLED_LIFE_MS,
} from "../../../generated/layouts/limiter.ts";
import type { Keyspace } from "../../../store/contract.ts";
import { byExpiry } from "./concurrency.ts";
import type { PolicyState, Rule } from "./rule.ts";

/** Permits set aside under each policy until the lease ends, of which some have been charged. */
interface Hold {
  token: string;
  expireAtMs: number;
  isSettled: boolean;
  isChargedAtEnd: boolean;
  reserved: readonly number[];
  charged: readonly number[];
}

/** A policy of the limiter within the step. */
interface Held {
  rule: Rule;
  state: PolicyState;
}

const BYTES = { list: 48, hold: 220, policy: 16 };

/** The open reservations of one id, and the settled ones that are remembered. The twin of lua/limiter/reservations.lua. */
export class Reservations {
  readonly #keys: Keyspace;
  readonly #key: string;
  readonly #nowMs: number;
  #all: readonly Hold[];

  /** `count`: the limiter's policies. */
  constructor(keys: Keyspace, key: string, nowMs: number, count: number) {
    this.#keys = keys;
    this.#key = key;
    this.#nowMs = nowMs;
    const all = keys.get(key) ?? [];
    if (!Array.isArray(all)) throw corruptError(key, "no reservations");
    this.#all = this.#remembered((all as readonly Hold[]).map((hold) => withPolicies(hold, count)));
  }

  get isFull(): boolean {
    return this.#all.length >= MAX_RESERVATIONS && !this.#all.some(({ isSettled }) => isSettled);
  }

  /** Permits set aside under one policy. */
  reserved(place: number): number {
    return this.#live().reduce((sum, hold) => sum + restOf(hold, place), 0);
  }

  has(token: string): boolean {
    return this.#find(token) !== undefined;
  }

  isOpen(token: string): boolean {
    return this.#find(token)?.isSettled === false;
  }

  /** Permits charged so far under one policy; 0 without the reservation. */
  charged(token: string, place: number): number {
    return this.#find(token)?.charged[place] ?? 0;
  }

  /** If there is no room, the first settled reservation is dropped. */
  add(token: string, leaseMs: number, isChargedAtEnd: boolean, reserved: readonly number[]): void {
    const kept = this.#all.length < MAX_RESERVATIONS ? this.#all : withoutSettled(this.#all, 0);
    const charged = reserved.map(() => 0);
    this.#all = [
      ...kept,
      { token, expireAtMs: this.#nowMs + leaseMs, isSettled: false, isChargedAtEnd, reserved, charged },
    ];
  }

  /** The lease begins anew, unless it has ended: what it had set aside may be another's. */
  charge(token: string, charged: readonly number[], leaseMs: number): void {
    const { expireAtMs } = this.#find(token)!;
    this.#change(token, { charged, expireAtMs: expireAtMs > this.#nowMs ? this.#nowMs + leaseMs : expireAtMs });
  }

  /** A settled reservation stays for a while. */
  settle(token: string, charged: readonly number[]): void {
    const knownUntilMs = this.#nowMs + SETTLED_LIFE_MS - SETTLE_GRACE_MS;
    const expireAtMs = Math.min(this.#find(token)!.expireAtMs, knownUntilMs);
    this.#change(token, { charged, expireAtMs, isSettled: true });
    this.#all = withoutSettled(this.#all, MAX_SETTLED);
  }

  /** What ended reservations have still to be charged, in the order of their ends. */
  get owed(): { token: string; atMs: number; rests: number[] }[] {
    return byExpiry(this.#all.filter((hold) => owes(hold) && hold.expireAtMs <= this.#nowMs)).map((hold) => ({
      token: hold.token,
      atMs: hold.expireAtMs,
      rests: hold.reserved.map((_, place) => restOf(hold, place)),
    }));
  }

  /** Writes that what ended reservations owe has been charged. */
  chargeOwed(policies: readonly Held[]): void {
    for (const { token, rests } of this.owed)
      this.#change(token, { charged: rests.map((rest, place) => this.charged(token, place) + rest) });
    this.write(policies);
    this.#all = this.#remembered(this.#all);
  }

  /** The wait of one policy. A reservation may end before the policy's own permits are free. */
  waitMs(state: PolicyState, place: number, permits: number): number {
    const ownWaitMs = (needed: number) => (needed <= state.free ? 0 : state.waitMs(needed));
    let reserved = this.reserved(place);
    let waitMs = ownWaitMs(permits + reserved);
    for (const hold of byExpiry(this.#live())) {
      reserved -= restOf(hold, place);
      waitMs = Math.min(waitMs, Math.max(hold.expireAtMs - this.#nowMs, ownWaitMs(permits + reserved)));
    }
    return waitMs;
  }

  /** When the last one ends, or what its end charges has no effect any more. */
  endMs(policies: readonly Held[]): number {
    const owing = this.#all.filter(owes);
    const lastOwedMs = lastOf(owing);
    const ends = policies.map((policy, place) => {
      const permits = owing.reduce((sum, hold) => sum + restOf(hold, place), 0);
      return owing.length > 0 ? mattersUntilMs(policy, permits, lastOwedMs, this.#nowMs) : 0;
    });
    return Math.min(MAX_NUMBER, Math.max(lastOf(this.#all), ...ends));
  }

  /** Whether the end of one charges something. */
  get isOwing(): boolean {
    return this.#all.some(owes);
  }

  /** Returns when the state of the first policy no longer requires their key; 0 if it does not now. */
  write(policies: readonly Held[]): number {
    const endMs = this.endMs(policies);
    const sizeBytes = BYTES.list + (BYTES.hold + BYTES.policy * policies.length) * this.#all.length;
    this.#keys.set(this.#key, this.#all, sizeBytes, endMs + SETTLE_GRACE_MS);
    const settledMs = this.#all.map(({ isSettled, expireAtMs }) => (isSettled ? expireAtMs + SETTLE_GRACE_MS : 0));
    const neededMs = Math.max(endMs, ...settledMs);
    return neededMs > this.#nowMs ? neededMs : 0;
  }

  #remembered(all: readonly Hold[]): Hold[] {
    return all.filter((hold) => owes(hold) || hold.expireAtMs > this.#nowMs - SETTLE_GRACE_MS);
  }

  #find(token: string): Hold | undefined {
    return this.#all.find((each) => each.token === token);
  }

  #change(token: string, change: Partial<Hold>): void {
    this.#all = this.#all.map((each) => (each.token === token ? { ...each, ...change } : each));
  }

  #live(): Hold[] {
    return this.#all.filter(({ expireAtMs, isSettled }) => expireAtMs > this.#nowMs && !isSettled);
  }
}

/** A hold that was made when the limiter had another number of policies. */
function withPolicies(hold: Hold, count: number): Hold {
  if (hold.reserved.length === count) return hold;
  const fitted = (permits: readonly number[]) => Array.from({ length: count }, (_, place) => permits[place] ?? 0);
  return { ...hold, reserved: fitted(hold.reserved), charged: fitted(hold.charged) };
}

function restOf({ isSettled, reserved, charged }: Hold, place: number): number {
  return isSettled ? 0 : Math.max(0, reserved[place]! - charged[place]!);
}

/** Whether the end of the lease charges something. */
function owes(hold: Hold): boolean {
  return hold.isChargedAtEnd && hold.reserved.some((_, place) => restOf(hold, place) > 0);
}

/** Until when permits matter that are charged at `endMs`. No calendar window is four days longer than the one before. */
function mattersUntilMs({ rule, state }: Held, permits: number, endMs: number, nowMs: number): number {
  const { kind, spanMs, rate } = rule;
  if (permits === 0 || kind === KIND.concurrency) return endMs;
  if (kind === KIND.calendar) return endMs + rate - spanMs + 4 * ENDED_LIFE_MS;
  if (kind !== KIND.leaky) return endMs + spanMs;
  return Math.max(endMs, nowMs + state.resetMs()) + Math.ceil((permits * spanMs) / rate);
}

const lastOf = (holds: readonly Hold[]) => holds.reduce((last, { expireAtMs }) => Math.max(last, expireAtMs), 0);

/** Drops the first settled reservation if there are more than `max`. */
function withoutSettled(all: readonly Hold[], max: number): readonly Hold[] {
  const first = all.findIndex(({ isSettled }) => isSettled);
  return all.filter(({ isSettled }) => isSettled).length > max ? all.filter((_, i) => i !== first) : all;
}
