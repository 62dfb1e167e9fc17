import { argumentError, corruptError, OrielError } from "../../base/errors.ts";
import type { RunOptions, Store } from "../../store/contract.ts";
import { packStrings } from "../../store/message-pack.ts";
import type { Agreement, Shaped } from "./agreement.ts";
import { add } from "./steps/add.ts";

const MAX_SOURCES = 1024;
const OFFSET_DIGITS = 32;
const POSITION = /^([0-9a-f]{32})?$/;
const MAX_OFFSET = 2n ** 128n - 1n;

/** An event of a source, with its shard and field. */
export interface SourcedEvent {
  offset: string;
  shard: number;
  field: string;
  count: number;
}

/**
 * Counts events of sources that can be replayed. Each event counts once, even if it is sent again in other batches.
 * Every shard stores the last counted offset of each source, and updates it in the same step as the counts.
 */
export class Sources {
  readonly #store: Store;
  readonly #keys: readonly string[];
  readonly #shaped: Shaped;
  readonly #agreement: Agreement;
  readonly #options: RunOptions;
  readonly #onCounted: ((rows: Uint8Array) => void) | undefined;
  /** The last known offset of each source in each shard. */
  readonly #reached = new Map<string, string[]>();
  readonly #turns = new Map<string, Promise<unknown>>();

  /** `onCounted`: receives the rows of each counted batch. Never throws. */
  constructor(shaped: Shaped, agreement: Agreement, replicas: number, onCounted?: (rows: Uint8Array) => void) {
    this.#store = shaped.store;
    this.#agreement = agreement;
    this.#onCounted = onCounted;
    this.#options = replicas > 0 ? { replicas } : {};
    this.#keys = shaped.keys;
    this.#shaped = shaped;
  }

  /** Counts the batches of one source one after another. */
  add(source: string, events: readonly SourcedEvent[]): Promise<void> {
    const before = this.#turns.get(source);
    const turn = before
      ? before.then(
          () => this.#add(source, events),
          () => this.#add(source, events),
        )
      : this.#add(source, events);
    this.#turns.set(source, turn);
    const done = () => void (this.#turns.get(source) === turn && this.#turns.delete(source));
    turn.then(done, done);
    return turn;
  }

  async #add(source: string, events: readonly SourcedEvent[]): Promise<void> {
    const refusal = this.#agreement.isReached ? undefined : await this.#agreement.reach();
    if (refusal !== undefined) throw refusal;
    const byShard = new Map<number, SourcedEvent[]>();
    for (const event of events) {
      const own = byShard.get(event.shard);
      if (own) own.push(event);
      else byShard.set(event.shard, [event]);
    }
    if (this.#reached.size >= MAX_SOURCES) this.#reached.clear();
    let reached = this.#reached.get(source);
    if (!reached) {
      reached = new Array<string>(this.#keys.length).fill("");
      this.#reached.set(source, reached);
    }
    const ends = await Promise.allSettled([...byShard].map(([shard, own]) => this.#count(source, shard, own, reached)));
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }

  async #count(source: string, shard: number, events: readonly SourcedEvent[], reached: string[]): Promise<void> {
    for (;;) {
      const before = reached[shard]!;
      const left = events.filter(({ offset }) => offset > before);
      if (left.length === 0) return;
      const after = left.at(-1)!.offset;
      const addition = { layout: this.#shaped.layout, mark: `s:${source}`, before, after, ...rowsOf(left) };
      const { isCounted, position } = await this.#store.run(add, this.#keys[shard]!, addition, this.#options);
      // An invalid value would be sent back and refused in an endless loop.
      if (!isCounted && !POSITION.test(position))
        throw corruptError(this.#keys[shard]!, `the stored offset of the source ${source} is not an offset`);
      reached[shard] = isCounted ? after : position;
      if (isCounted) return this.#onCounted?.(addition.rows);
      if (position < before)
        throw new OrielError(
          "LOST",
          `the store has lost the counts of the source ${source} after offset ${numberOf(position)}; replay it from there`,
        );
    }
  }
}

function rowsOf(events: readonly SourcedEvent[]): { total: bigint; rows: Uint8Array } {
  const sums = new Map<string, bigint>();
  let total = 0n;
  for (const { field, count } of events) {
    total += BigInt(count);
    sums.set(field, (sums.get(field) ?? 0n) + BigInt(count));
  }
  return { total, rows: packStrings([...sums].flatMap(([field, sum]) => [field, `${sum}`])) };
}

/** The rising offsets of events, as text with the same order. Throws ARGUMENT. */
export function offsetTexts(offset: unknown, length: number): string[] {
  const offsets = Array.isArray(offset) ? offset : Array.from({ length }, (_, i) => following(offset, i));
  if (offsets.length !== length) throw argumentError("offset", offset, `one offset, or ${length}: one for each event`);
  const texts = offsets.map((one) => {
    const number = typeof one === "number" && Number.isSafeInteger(one) ? BigInt(one) : one;
    if (typeof number !== "bigint" || number < 0n || number > MAX_OFFSET)
      throw argumentError("offset", one, "a whole number from 0 to 2^128 - 1");
    return number.toString(16).padStart(OFFSET_DIGITS, "0");
  });
  for (let i = 1; i < length; i++)
    if (texts[i]! <= texts[i - 1]!) throw argumentError("offset", offsets[i], "above the offset of the previous event");
  return texts;
}

function following(offset: unknown, i: number): unknown {
  if (typeof offset === "bigint") return offset + BigInt(i);
  return typeof offset === "number" ? offset + i : offset;
}

function numberOf(position: string): string {
  return position === "" ? "none" : `${BigInt(`0x${position}`)}`;
}
