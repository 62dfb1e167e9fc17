import { gathering } from "../../base/async/gathering.ts";
import { MAX_PER_REQUEST, type ShardPoller } from "./shard-poller.ts";

/** The messages that a worker may hold, shared equally among its shards. */
export class Room {
  readonly #size: number;
  readonly #heldCount: () => number;
  readonly #pollers: readonly ShardPoller[];
  /** Shards that wait for room, the longest wait first. */
  readonly #waitingShards = new Set<number>();
  #reserved = 0;
  #isSharing = false;

  constructor(size: number, heldCount: () => number, pollers: readonly ShardPoller[]) {
    this.#size = size;
    this.#heldCount = heldCount;
    this.#pollers = pollers;
  }

  /** Reserves room for one of a shard's `turns`: an equal part of the room left after shards that already wait. */
  reserve(shard: number, turns: number): number {
    let room = this.#size - this.#heldCount() - this.#reserved;
    for (const other of this.#waitingShards) {
      if (other === shard) break;
      if (this.#pollers[other]!.mayClaim) room--;
    }
    if (room <= 0) {
      this.#waitingShards.add(shard);
      return 0;
    }
    this.#waitingShards.delete(shard);
    const sharing = this.#pollers.filter((each) => each.mayBeDue).length;
    const limit = Math.min(room, Math.ceil(this.#size / Math.max(1, sharing) / turns), MAX_PER_REQUEST);
    this.#reserved += limit;
    return limit;
  }

  release(count: number): void {
    this.#reserved -= count;
  }

  /** Gives free room to the shards that wait for it. */
  share(): void {
    for (const shard of [...this.#waitingShards]) if (this.#pollers[shard]!.isIdle) this.#pollers[shard]!.pump();
  }

  /** The same, once for all results of this turn of the event loop. */
  shareSoon(): void {
    if (this.#waitingShards.size === 0 || this.#isSharing) return;
    this.#isSharing = true;
    gathering().then(() => {
      this.#isSharing = false;
      this.share();
    });
  }
}
