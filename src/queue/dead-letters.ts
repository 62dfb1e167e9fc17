import { argumentError, checkKnown, wholeNumber } from "../base/errors.ts";
import { settingsOf } from "../base/options.ts";
import type { Site } from "../base/site.ts";
import type { Store } from "../store/contract.ts";
import { MAX_FULL_MESSAGES, MAX_MESSAGES, shardOf } from "./format/layout.ts";
import { messageOf, type QueuedMessage } from "./message.ts";
import { checkId } from "./options.ts";
import { dead, redrive } from "./steps/dead-letters.ts";

const LIST = { offset: [wholeNumber, 0, 0, 2 ** 31], limit: [wholeNumber, 100, 1, MAX_MESSAGES] } as const;

/** Messages whose last delivery failed or lapsed. They stay until they are redriven or cancelled. */
export class DeadLetters<Payload = unknown> {
  readonly #store: Store;
  readonly #keys: readonly string[];
  readonly #layout: string;

  readonly #site: Site;

  constructor(store: Store, keys: readonly string[], layout: string, site: Site) {
    this.#site = site;
    this.#store = store;
    this.#keys = keys;
    this.#layout = layout;
  }

  /**
   * Returns up to `limit` (1 to 1000, default 100) dead messages after the first `offset`. Each shard is ordered by
   * time of death.
   */
  list(options: { offset?: number | undefined; limit?: number | undefined } = {}): Promise<QueuedMessage<Payload>[]> {
    return this.#site.run("dead.list", () => this.#list(options), "no");
  }

  async #list(options: { offset?: number | undefined; limit?: number | undefined }): Promise<QueuedMessage<Payload>[]> {
    const { offset, limit } = settingsOf(LIST, options);
    const found: QueuedMessage<Payload>[] = [];
    let skipped = 0;
    for (const key of this.#keys)
      for (let read = 0; found.length < limit; ) {
        const wanted = Math.min(MAX_FULL_MESSAGES, offset - skipped + limit - found.length);
        const page = await this.#store.run(dead, key, { layout: this.#layout, offset: read, limit: wanted });
        if (page.length === 0) break;
        read += page.length;
        for (const each of page)
          if (skipped < offset) skipped++;
          else if (found.length < limit) found.push(messageOf(each.id, each));
      }
    return found;
  }

  /**
   * Makes dead messages due at once, with zero deliveries: those with these ids, or all. Returns their number. Corrupt
   * messages stay dead and are not counted.
   */
  redrive(options: { ids?: readonly string[] | undefined } = {}): Promise<number> {
    return this.#site.run("dead.redrive", () => this.#redrive(options));
  }

  async #redrive(options: { ids?: readonly string[] | undefined }): Promise<number> {
    checkKnown(options, ["ids"]);
    if (options.ids !== undefined) return this.#redriveThese(options.ids);
    let count = 0;
    for (const key of this.#keys)
      for (let offset = 0, isMore = true; isMore; ) {
        const asked = { layout: this.#layout, offset, limit: MAX_FULL_MESSAGES, ids: [] };
        const { moved, corruptCount } = await this.#store.run(redrive, key, asked);
        count += moved;
        offset += corruptCount;
        isMore = moved + corruptCount === MAX_FULL_MESSAGES;
      }
    return count;
  }

  async #redriveThese(ids: readonly string[]): Promise<number> {
    if (!Array.isArray(ids) || ids.length > MAX_MESSAGES)
      throw argumentError("ids", ids, `an array of at most ${MAX_MESSAGES} ids`);
    const shards = this.#keys.map((): string[] => []);
    for (const id of ids) shards[shardOf(checkId(id), this.#keys.length)]!.push(id);
    const redriven = shards.map(async (own, shard) => {
      let count = 0;
      for (let from = 0; from < own.length; from += MAX_FULL_MESSAGES) {
        const some = own.slice(from, from + MAX_FULL_MESSAGES);
        const asked = { layout: this.#layout, offset: 0, limit: 0, ids: some };
        count += (await this.#store.run(redrive, this.#keys[shard]!, asked)).moved;
      }
      return count;
    });
    return (await Promise.all(redriven)).reduce((sum, moved) => sum + moved, 0);
  }
}
