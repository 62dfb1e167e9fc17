import { corruptError } from "../../../base/errors.ts";
import { MAX_RESERVATIONS, MAX_SETTLED, SETTLE_GRACE_MS, SETTLED_LIFE_MS } from "../../../generated/layouts/limiter.ts";
import type { Keyspace } from "../../../store/contract.ts";
import { byExpiry, LENT_PERMIT_BYTES, type LentPermit } from "./concurrency.ts";
import type { PolicyState } from "./rule.ts";

const RESERVATIONS_BYTES = 48;

/** The open reservations of one id, and the settled ones that are remembered. The twin of lua/limiter/reservations.lua. */
export class Reservations {
  readonly #keys: Keyspace;
  readonly #key: string;
  readonly #nowMs: number;
  #all: readonly LentPermit[];

  constructor(keys: Keyspace, key: string, nowMs: number) {
    this.#keys = keys;
    this.#key = key;
    this.#nowMs = nowMs;
    const all = keys.get(key) ?? [];
    if (!Array.isArray(all)) throw corruptError(key, "no reservations");
    this.#all = (all as readonly LentPermit[]).filter(({ expireAtMs }) => expireAtMs > nowMs - SETTLE_GRACE_MS);
  }

  get isFull(): boolean {
    return this.#all.length >= MAX_RESERVATIONS && this.#all.every(({ permits }) => permits >= 0);
  }

  get sum(): number {
    return this.#live().reduce((sum, { permits }) => sum + permits, 0);
  }

  find(token: string): LentPermit | undefined {
    return this.#all.find((each) => each.token === token);
  }

  /** Returns the end of the longest lease. If there is no room, the first settled reservation is dropped. */
  add(token: string, leaseMs: number, permits: number): number {
    const kept = this.#all.length < MAX_RESERVATIONS ? this.#all : withoutSettled(this.#all, 0);
    return this.#write([...kept, { token, expireAtMs: this.#nowMs + leaseMs, permits }]);
  }

  /** A settled reservation stays for a while with -1 permits. */
  settle(token: string): void {
    const knownUntilMs = this.#nowMs + SETTLED_LIFE_MS - SETTLE_GRACE_MS;
    const settled = this.#all.map((each) =>
      each.token === token ? { token, permits: -1, expireAtMs: Math.min(each.expireAtMs, knownUntilMs) } : each,
    );
    this.#write(withoutSettled(settled, MAX_SETTLED));
  }

  /** The wait of one policy. A reservation may end before the policy's own permits are free. */
  waitMs(state: PolicyState, permits: number): number {
    const ownWaitMs = (needed: number) => (needed <= state.free ? 0 : state.waitMs(needed));
    let reserved = this.sum;
    let waitMs = ownWaitMs(permits + reserved);
    for (const each of byExpiry(this.#live())) {
      reserved -= each.permits;
      waitMs = Math.min(waitMs, Math.max(each.expireAtMs - this.#nowMs, ownWaitMs(permits + reserved)));
    }
    return waitMs;
  }

  #live(): LentPermit[] {
    return this.#all.filter(({ expireAtMs, permits }) => expireAtMs > this.#nowMs && permits > 0);
  }

  #write(all: readonly LentPermit[]): number {
    const endMs = all.reduce((last, { expireAtMs }) => Math.max(last, expireAtMs), 0);
    const sizeBytes = RESERVATIONS_BYTES + LENT_PERMIT_BYTES * all.length;
    this.#keys.set(this.#key, all, sizeBytes, endMs + SETTLE_GRACE_MS);
    this.#all = all;
    return endMs;
  }
}

/** Drops the first settled reservation if there are more than `max`. */
function withoutSettled(all: readonly LentPermit[], max: number): readonly LentPermit[] {
  const first = all.findIndex(({ permits }) => permits < 0);
  return all.filter(({ permits }) => permits < 0).length > max ? all.filter((_, i) => i !== first) : all;
}
