import { settingsOf } from "../base/options.ts";
import type { Duration } from "../base/time.ts";
import type { Store } from "../store/contract.ts";
import { shardOf } from "./format/layout.ts";
import { type ClaimedMessage, checkClaimed, claimOf, corruptOutcomeOf, outcomeOf } from "./job.ts";
import { CLAIM, type ClaimOptions, NACK, type NackOptions, VISIBILITY } from "./options.ts";
import { extend } from "./steps/messages.ts";
import {
  type Claim,
  type Outcome,
  type SettleAndClaimRequest,
  type SettleAndClaimResult,
  type Settlement,
  settleAndClaim,
} from "./steps/settle-and-claim.ts";

const EXTEND = { visibility: VISIBILITY };
/** Maximum claim steps on one shard. A step may return only dead or corrupt messages, and is then repeated. */
const MAX_ROUNDS = 16;

/** Claims messages without a worker. */
export class ManualClaims<Payload> {
  readonly #store: Store;
  readonly #keys: readonly string[];
  readonly #layout: string;
  readonly #dedupeMs: number;
  /** The shard that the next call asks first. */
  #turn = 0;

  constructor(store: Store, keys: readonly string[], layout: string, dedupeMs: number) {
    this.#store = store;
    this.#keys = keys;
    this.#layout = layout;
    this.#dedupeMs = dedupeMs;
  }

  async claim(options: ClaimOptions): Promise<ClaimedMessage<Payload>[]> {
    const { limit, visibilityMs } = settingsOf(CLAIM, options);
    const claimed: ClaimedMessage<Payload>[] = [];
    const first = this.#turn++;
    let failure: unknown;
    for (let i = 0; i < this.#keys.length && claimed.length < limit; i++) {
      const key = this.#keys[(first + i) % this.#keys.length]!;
      try {
        await this.#claimFrom(key, limit, visibilityMs, claimed);
      } catch (error) {
        // Keep the messages that other shards returned: they are claimed, and would lapse if this failure discarded
        // them.
        failure ??= error;
      }
    }
    if (claimed.length === 0 && failure !== undefined) throw failure;
    return claimed;
  }

  /** Claims from one shard until there are enough messages, or no more are due. */
  async #claimFrom(
    key: string,
    limit: number,
    visibilityMs: number,
    claimed: ClaimedMessage<Payload>[],
  ): Promise<void> {
    for (let round = 0, isMore = true; isMore && round < MAX_ROUNDS && claimed.length < limit; round++) {
      const asked = { ...this.#requestOf([]), limit: limit - claimed.length, visibilityMs };
      const { claims, exhausted, nextMs, nowMs }: SettleAndClaimResult = await this.#store.run(
        settleAndClaim,
        key,
        asked,
      );
      const corrupt = claims.flatMap((claim) => this.#read(claim, claimed));
      if (corrupt.length > 0) await this.#store.run(settleAndClaim, key, this.#requestOf(corrupt));
      isMore = corrupt.length + exhausted.length > 0 && (corrupt.length > 0 || nextMs <= nowMs);
    }
  }

  /** Adds the claimed message to `claimed`. Corrupt bytes give a result that moves them to the dead letters. */
  #read(claim: Claim, claimed: ClaimedMessage<Payload>[]): Settlement[] {
    try {
      claimed.push(claimOf<Payload>(claim));
      return [];
    } catch (error) {
      return [{ member: claim.member, deliveries: claim.deliveries, ...corruptOutcomeOf(claim, error) }];
    }
  }

  async ack(message: ClaimedMessage<Payload>): Promise<boolean> {
    checkClaimed(message);
    return this.#settle(message, { verb: "done" });
  }

  async nack(message: ClaimedMessage<Payload>, options: NackOptions): Promise<boolean> {
    checkClaimed(message);
    const { delayMs, error } = settingsOf(NACK, options);
    return this.#settle(message, outcomeOf(message, error, delayMs ?? undefined));
  }

  async extend(message: ClaimedMessage<Payload>, visibility: Duration): Promise<boolean> {
    checkClaimed(message);
    const { visibilityMs } = settingsOf(EXTEND, { visibility });
    const asked = { layout: this.#layout, held: [message.receipt], visibilityMs };
    return (await this.#store.run(extend, this.#keyOf(message.id), asked))[0]!;
  }

  async #settle(message: ClaimedMessage<Payload>, outcome: Outcome): Promise<boolean> {
    const asked = this.#requestOf([{ ...message.receipt, ...outcome }]);
    return (await this.#store.run(settleAndClaim, this.#keyOf(message.id), asked)).statuses[0] === "settled";
  }

  /** A turn that only delivers results and claims no messages. */
  #requestOf(settlements: readonly Settlement[]): SettleAndClaimRequest {
    return { layout: this.#layout, settlements, dedupeMs: this.#dedupeMs, limit: 0, visibilityMs: 1 };
  }

  #keyOf(id: string): string {
    return this.#keys[shardOf(id, this.#keys.length)]!;
  }
}
