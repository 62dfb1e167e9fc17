import { KIND, LEASE_CALL_AT } from "../../../generated/layouts/limiter.ts";
import type { StateContext } from "./rule.ts";
import { STATE_BYTES, StoredPolicyState, type StoredState } from "./state.ts";

/** Permits lent under a token until they are given back or their lease ends. */
export interface LentPermit {
  token: string;
  expireAtMs: number;
  permits: number;
}

/** Memory of one `LentPermit` with its token. */
const LENT_PERMIT_BYTES = 136;

interface StoredPermits extends StoredState {
  /** In order of expiry. */
  lent: readonly LentPermit[];
}

/** Concurrency limit. The twin of lua/limiter/concurrency.lua, which states the rules. */
export class ConcurrencyState extends StoredPolicyState<StoredPermits> {
  used: number;
  /** Leases that have not ended, in order of expiry. */
  #lent: readonly LentPermit[];

  constructor(context: StateContext) {
    super(context, KIND.concurrency);
    this.#lent = (this.stored?.lent ?? []).filter(({ expireAtMs }) => expireAtMs > context.nowMs);
    this.used = this.#lent.reduce((total, { permits }) => total + permits, 0);
  }

  get free(): number {
    return this.context.rule.limit - this.used;
  }

  waitMs(permits: number): number {
    let left = this.used;
    for (const lent of this.#lent) {
      left -= lent.permits;
      if (left + permits <= this.context.rule.limit) return lent.expireAtMs - this.context.nowMs;
    }
    return Number.POSITIVE_INFINITY;
  }

  resetMs(): number {
    return Math.max(0, lastExpiry(this.#lent) - this.context.nowMs);
  }

  take(calls: number, cost: number, token: string): void {
    if (cost === 0) return;
    const expireAtMs = this.context.nowMs + this.context.rule.spanMs;
    const added = Array.from({ length: calls }, (_, i) => ({ token: tokenOf(token, i), expireAtMs, permits: cost }));
    this.#lent = byExpiry([...this.#lent, ...added]);
    this.used += calls * cost;
    this.write();
  }

  /** Lent permits are given back by `release`. */
  giveBack(): void {}

  release(token: string): void {
    const released = this.#lent.find((lent) => lent.token === token);
    if (!released) return;
    this.#lent = this.#lent.filter((lent) => lent !== released);
    this.used -= released.permits;
    this.write();
  }

  write(): void {
    const lent = this.#lent;
    const sizeBytes = STATE_BYTES + LENT_PERMIT_BYTES * lent.length;
    this.store({ kind: KIND.concurrency, lent }, lastExpiry(lent), sizeBytes);
  }
}

/** The token of the i-th call of a group: 32 hexadecimal digits. The last eight are its number, little-endian. */
export function tokenOf(token: string, i: number): string {
  const number = [0, 8, 16, 24].map((shift) => ((i >>> shift) & 255).toString(16).padStart(2, "0"));
  // `join` makes a flat string. A concatenation would keep the whole group's token alive.
  return [token.slice(0, 2 * LEASE_CALL_AT), ...number].join("");
}

export function byExpiry<One extends { expireAtMs: number }>(all: readonly One[]): One[] {
  return [...all].sort((one, other) => one.expireAtMs - other.expireAtMs);
}

function lastExpiry(lent: readonly LentPermit[]): number {
  return lent.reduce((last, { expireAtMs }) => Math.max(last, expireAtMs), 0);
}
