import { endsWithRequest } from "../base/async/of-request.ts";
import { OrielError } from "../base/errors.ts";
import { agreeScript } from "../generated/scripts/queue.ts";
import type { Operation, Store } from "../store/contract.ts";
import { homeKey, keysOfShard } from "./format/layout.ts";
import { keepShard, shardAt } from "./format/shard.ts";

interface AgreementTarget {
  readonly store: Store;
  readonly name: string;
  readonly layout: string;
  readonly replicas: number;
}

/**
 * Writes the layout into the home shard once, before this process writes to any shard. Other shards know only their own
 * layout, so a process with another number of shards would be refused only at shards that are in use.
 */
export class Agreement {
  /** True once the home shard has this layout. */
  isReached: boolean;
  readonly #target: AgreementTarget;
  #turn: Promise<void> | undefined;

  constructor(target: AgreementTarget, shards: number) {
    this.#target = target;
    // A single shard is the home shard, and each step compares the layout of its shard.
    this.isReached = shards === 1;
  }

  /** One request serves all waiting callers. Rejects with the error that prevents writing. */
  reach(): Promise<void> {
    // In Workers each request asks for itself. A second "agree" changes nothing.
    if (endsWithRequest) this.#turn = undefined;
    if (this.#turn) return this.#turn;
    const turn = this.#ask();
    // The first callback of the turn. So no later message overtakes those that wait for the turn.
    turn.then(
      () => {
        this.isReached = true;
      },
      () => {
        this.#turn = undefined;
      },
    );
    this.#turn = turn;
    return turn;
  }

  async #ask(): Promise<void> {
    const { store, name, layout, replicas } = this.#target;
    try {
      await store.run(agree, homeKey(store, name), { layout }, replicas > 0 ? { replicas } : {});
    } catch (error) {
      if (!(error instanceof OrielError)) throw error;
      const { code, cause, transient, retryAfterMs } = error;
      // The layout may have been written, but no message was sent.
      throw new OrielError(code, OrielError.detailOf(error), { cause, transient, retryAfterMs, applied: "no" });
    }
  }
}

/** Writes the queue's layout into its home shard, or compares it. Law in lua/queue/agree.lua. */
export const agree: Operation<{ layout: string }, void> = {
  name: "queue/agree",
  script: agreeScript,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 1,
  repeatable: true,
  mustLast: true,
  encode: ({ layout }) => [layout],
  decode: () => undefined,
  local(keys, key, { layout }) {
    const shard = shardAt(keys, key, layout);
    keepShard(keys, key, shard);
    shard.layout = layout;
    shard.isHome = true;
  },
};
