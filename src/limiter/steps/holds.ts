import { corruptError } from "../../errors.ts";
import type { Keyspace } from "../../store/contract.ts";
import { law } from "./law.ts";
import { byExpiry, LENT_BYTES, type Lent } from "./permits.ts";
import type { Looked } from "./rule.ts";

const HOLDS_BYTES = 48;

/** What is reserved of one id and not settled yet; law in lua/limiter/holds.lua. */
export class Holds {
  readonly #keys: Keyspace;
  readonly #key: string;
  readonly #nowMs: number;
  #all: readonly Lent[];

  constructor(keys: Keyspace, key: string, nowMs: number) {
    this.#keys = keys;
    this.#key = key;
    this.#nowMs = nowMs;
    const all = keys.get(key) ?? [];
    if (!Array.isArray(all)) throw corruptError(key, "no reservations");
    this.#all = (all as readonly Lent[]).filter(({ expireAtMs }) => expireAtMs > nowMs - law.settleGraceMs);
  }

  get isFull(): boolean {
    return this.#all.length >= law.mostHeld && this.#all.every(({ permits }) => permits >= 0);
  }

  get sum(): number {
    return this.#live().reduce((sum, { permits }) => sum + permits, 0);
  }

  find(token: string): Lent | undefined {
    return this.#all.find((each) => each.token === token);
  }

  /** The end of the longest lease. Where it is full, the first that is settled is forgotten. */
  add(token: string, leaseMs: number, permits: number): number {
    const kept = this.#all.length < law.mostHeld ? this.#all : withoutSettled(this.#all, 0);
    return this.#write([...kept, { token, expireAtMs: this.#nowMs + leaseMs, permits }]);
  }

  settle(token: string): void {
    const knownUntilMs = this.#nowMs + law.settledLifeMs - law.settleGraceMs;
    const settled = this.#all.map((each) =>
      each.token === token ? { token, permits: -1, expireAtMs: Math.min(each.expireAtMs, knownUntilMs) } : each,
    );
    this.#write(withoutSettled(settled, law.mostSettled));
  }

  /** The wait of one policy: some of what is reserved may be free before its own permits are. */
  waitMs(looked: Looked, permits: number): number {
    const own = (wanted: number) => (wanted <= looked.free ? 0 : looked.waitMs(wanted));
    let left = this.sum;
    let least = own(permits + left);
    for (const each of byExpiry(this.#live())) {
      left -= each.permits;
      least = Math.min(least, Math.max(each.expireAtMs - this.#nowMs, own(permits + left)));
    }
    return least;
  }

  #live(): Lent[] {
    return this.#all.filter(({ expireAtMs, permits }) => expireAtMs > this.#nowMs && permits > 0);
  }

  #write(all: readonly Lent[]): number {
    const endsMs = all.reduce((last, { expireAtMs }) => Math.max(last, expireAtMs), 0);
    this.#keys.set(this.#key, all, HOLDS_BYTES + LENT_BYTES * all.length, endsMs + law.settleGraceMs);
    this.#all = all;
    return endsMs;
  }
}

/** Without the first that is settled, where more than `most` are. */
function withoutSettled(all: readonly Lent[], most: number): readonly Lent[] {
  const first = all.findIndex(({ permits }) => permits < 0);
  return all.filter(({ permits }) => permits < 0).length > most ? all.filter((_, i) => i !== first) : all;
}
