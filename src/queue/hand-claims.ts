import { checkKnown, wholeNumber } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import { type Duration, durationMs } from "../time.ts";
import { MOST_MESSAGES, shardOf } from "./format/layout.ts";
import { MOST_DELAY_MS } from "./options.ts";
import type { Claim, Outcome, Result, Turn, Turned } from "./steps/exchange.ts";
import { extend } from "./steps/extend.ts";
import { turn } from "./steps/turn.ts";
import { burialOf, type ClaimedMessage, checkClaimed, claimOf, outcomeOf } from "./worker/claimed.ts";

const MOST_VISIBILITY_MS = 86_400_000;
/** Maximum claim steps on one shard. A step may return only dead or corrupt messages, and is then repeated. */
const MOST_ROUNDS = 16;

/** Claims messages without a worker. */
export class HandClaims<Payload> {
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

  async claim(options: { limit?: number; visibility?: Duration }): Promise<ClaimedMessage<Payload>[]> {
    checkKnown(options, ["limit", "visibility"]);
    const most = wholeNumber("limit", options.limit === undefined ? 1 : options.limit, 1, MOST_MESSAGES);
    const visibilityMs = durationMs("visibility", options.visibility ?? "30s", 1, MOST_VISIBILITY_MS);
    const claimed: ClaimedMessage<Payload>[] = [];
    const first = this.#turn++;
    let failure: unknown;
    for (let i = 0; i < this.#keys.length && claimed.length < most; i++) {
      const key = this.#keys[(first + i) % this.#keys.length]!;
      try {
        await this.#claimFrom(key, most, visibilityMs, claimed);
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
  async #claimFrom(key: string, most: number, visibilityMs: number, claimed: ClaimedMessage<Payload>[]): Promise<void> {
    for (let round = 0, isMore = true; isMore && round < MOST_ROUNDS && claimed.length < most; round++) {
      const asked = { ...this.#turnOf([]), most: most - claimed.length, visibilityMs };
      const { claims, died, nextMs, nowMs }: Turned = await this.#store.run(turn, key, asked);
      const burials = claims.flatMap((claim) => this.#read(claim, claimed));
      if (burials.length > 0) await this.#store.run(turn, key, this.#turnOf(burials));
      isMore = burials.length + died.length > 0 && (burials.length > 0 || nextMs <= nowMs);
    }
  }

  /** Adds the claimed message to `claimed`. Corrupt bytes give a result that moves them to the dead letters. */
  #read(claim: Claim, claimed: ClaimedMessage<Payload>[]): Result[] {
    try {
      claimed.push(claimOf<Payload>(claim));
      return [];
    } catch (error) {
      return [{ member: claim.member, deliveries: claim.deliveries, ...burialOf(claim, error) }];
    }
  }

  async ack(message: ClaimedMessage<Payload>): Promise<boolean> {
    checkClaimed(message);
    return this.#tell(message, { verb: "done" });
  }

  async nack(message: ClaimedMessage<Payload>, options: { delay?: Duration; error?: unknown }): Promise<boolean> {
    checkClaimed(message);
    checkKnown(options, ["delay", "error"]);
    const { delay, error } = options;
    const delayMs = delay === undefined ? undefined : durationMs("delay", delay, 0, MOST_DELAY_MS);
    return this.#tell(message, outcomeOf(message, error, delayMs));
  }

  async extend(message: ClaimedMessage<Payload>, visibility: Duration): Promise<boolean> {
    checkClaimed(message);
    const visibilityMs = durationMs("visibility", visibility, 1, MOST_VISIBILITY_MS);
    const asked = { layout: this.#layout, held: [message.receipt], visibilityMs };
    return (await this.#store.run(extend, this.#keyOf(message.id), asked))[0]!;
  }

  async #tell(message: ClaimedMessage<Payload>, outcome: Outcome): Promise<boolean> {
    const asked = this.#turnOf([{ ...message.receipt, ...outcome }]);
    return (await this.#store.run(turn, this.#keyOf(message.id), asked)).fates[0] === "kept";
  }

  /** A turn that only delivers results and claims no messages. */
  #turnOf(results: readonly Result[]): Turn {
    return { layout: this.#layout, results, dedupeMs: this.#dedupeMs, most: 0, visibilityMs: 1 };
  }

  #keyOf(id: string): string {
    return this.#keys[shardOf(id, this.#keys.length)]!;
  }
}
