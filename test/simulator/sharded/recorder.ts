import { gathering } from "../../../src/base/async/gathering.ts";
import { siteOf } from "../../../src/base/site.ts";
import { ServerTime } from "../../../src/engine/journal/replica/last-seen.ts";
import { CommitLoop } from "../../../src/engine/series/session/commit-loop.ts";
import { Agreement } from "../../../src/engine/shards/agreement.ts";
import { Shard } from "../../../src/engine/shards/shard.ts";
import { type ShardedSeriesOptions, shardSettings } from "../../../src/engine/shards/shard-options.ts";
import type { Store } from "../../../src/store/contract.ts";

/**
 * The recording half of a `ShardedSeries`, small enough for ten thousand in one process: its agreement, shards and loops are those of
 * the library, but a shard is made when the first event goes to it. It chooses the shard of each turn as `ShardedSeries` does.
 */
export class Recorder {
  readonly #store: Store;
  readonly #name: string;
  readonly #keys: readonly string[];
  readonly #settings;
  readonly #agreement: Agreement;
  readonly #made: (Shard | undefined)[] = [];
  #turn: Shard | undefined;
  #next: number;

  /** `keys`: those of the shards. */
  constructor(store: Store, name: string, keys: readonly string[], options: ShardedSeriesOptions) {
    this.#store = store;
    this.#name = name;
    this.#keys = keys;
    this.#settings = shardSettings({ ...options, shards: keys.length }, undefined).series;
    this.#agreement = new Agreement([store], false, name, keys.length, this.#settings);
    this.#next = this.#settings.entropy() % keys.length;
  }

  record(value: number): Promise<unknown> {
    return this.#chosen().loop.put(value).written;
  }

  #chosen(): Shard {
    if (this.#turn) return this.#turn;
    const { length } = this.#keys;
    const first = this.#next;
    let at = first;
    for (let i = 1; i < length && this.#made[at]?.isUp === false; i++) at = (first + i) % length;
    this.#next = (at + 1) % length;
    const shard = this.#made[at] ?? this.#make(this.#keys[at]!);
    this.#made[at] = shard;
    this.#turn = shard;
    void gathering().then(() => {
      this.#turn = undefined;
    });
    return shard;
  }

  #make(key: string): Shard {
    const time = new ServerTime(this.#store.monotonic);
    const beforeAppend = () => this.#agreement.beforeRecording();
    const site = siteOf("ShardedSeries", this.#store, this.#name);
    const loop = (ended: (error: unknown) => void) =>
      new CommitLoop(this.#store, key, { ...this.#settings, beforeAppend, ended }, time, site);
    return new Shard(loop, this.#store.monotonic);
  }
}
