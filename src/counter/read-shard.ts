import type { Store } from "../store/contract.ts";
import { isRow } from "./format/row-text.ts";
import { type Page, page } from "./steps/page.ts";

const FIELDS_PER_PAGE = 1000;
/** More than a shard has: all of it in one step. */
const ALL_FIELDS = 2 ** 31 - 1;
const MOST_COUNT = `${2n ** 63n - 1n}`;

/** A field that no version of oriel has written so, as it stands. */
export interface DamagedField {
  /** Its generation, by its number in the ledger. */
  generation: number;
  field: string;
  value: string;
}

/** What a shard holds. Generations have their numbers in the ledger. */
export interface ShardCounts {
  /** By generation and row (`<start>|<value>...`): what is not yet known to be elsewhere. */
  counts: Map<number, Map<string, bigint>>;
  acknowledged: number;
  /** What was added to the fields' numbers of generations. */
  base: number;
  /** By generation, of those that are frozen. */
  nonces: Map<number, string>;
  /** By generation, their sums as they stand. */
  sums: Map<number, string>;
  /** Fields that count no more. */
  leftovers: string[];
  /** Rows that cannot be read, of generations that are not yet elsewhere; also those that `add` has put aside. */
  damaged: DamagedField[];
  /** Where the marks of producers stand. */
  producers: Map<string, string>;
}

/**
 * All of a shard: "whole", as it is at one moment, in a step that takes about 1 us a field; or in "pages", where only a
 * generation that was frozen before is read exactly, if the shard does not move to another server meanwhile.
 */
export async function readShard(
  store: Store,
  key: string,
  layout: string,
  how: "whole" | "pages",
  signal?: AbortSignal,
): Promise<ShardCounts> {
  const count = how === "whole" ? ALL_FIELDS : FIELDS_PER_PAGE;
  const shard: ShardCounts = {
    counts: new Map(),
    acknowledged: 0,
    base: 0,
    nonces: new Map(),
    sums: new Map(),
    leftovers: [],
    damaged: [],
    producers: new Map(),
  };
  const fields = new Fields(shard, layout);
  for (let cursor = "0"; ; ) {
    const query = { layout, cursor, count };
    let one = await store.run(page, key, query, signal && { signal });
    if (one.hasLineFeeds) one = await store.run(page, key, { ...query, isEscaped: true }, signal && { signal });
    fields.add(one);
    cursor = one.cursor;
    if (cursor === "0") break;
  }
  shard.leftovers = [...fields.leftovers];
  return shard;
}

/** Takes fields apart, those of later pages over those of earlier ones. */
class Fields {
  readonly leftovers = new Set<string>();
  readonly #shard: ShardCounts;
  readonly #layout: string;
  readonly #damaged = new Set<string>();

  constructor(shard: ShardCounts, layout: string) {
    this.#shard = shard;
    this.#layout = layout;
  }

  add({ fields, acknowledged, base }: Page): void {
    const shard = this.#shard;
    shard.acknowledged = acknowledged + base;
    shard.base = base;
    for (let i = 0; i < fields.length; i += 2) {
      const field = fields[i]!;
      const value = fields[i + 1]!;
      const kind = field[0];
      if (field.startsWith("w:")) shard.producers.set(field, value);
      else if (field.startsWith("@x:")) shard.nonces.set(Number(field.slice(3)) + base, value);
      else if (field.startsWith("@n:")) shard.sums.set(Number(field.slice(3)) + base, value);
      else if (kind === "!") this.#addRow(field.slice(1), field, value, acknowledged, base);
      else if (kind !== undefined && kind >= "0" && kind <= "9") this.#addRow(field, field, value, acknowledged, base);
    }
  }

  #addRow(text: string, field: string, value: string, acknowledged: number, base: number): void {
    const bar = text.indexOf("|");
    const own = Number(text.slice(0, bar));
    if (bar < 1 || !Number.isSafeInteger(own)) return; // nobody's
    const row = text.slice(bar + 1);
    const isGood = field === text && isCount(value) && isRow(row, this.#layout);
    if (own <= acknowledged) {
      // What cannot be read stays, for whoever wants to look.
      if (isGood) this.leftovers.add(field);
    } else if (isGood) put(this.#shard.counts, own + base, row, BigInt(value));
    else if (!this.#damaged.has(field)) {
      this.#damaged.add(field);
      this.#shard.damaged.push({ generation: own + base, field, value });
    }
  }
}

/** Whether HINCRBY may have written it: up to 2^63 - 1. */
function isCount(text: string): boolean {
  return /^\d{1,19}$/.test(text) && (text.length < MOST_COUNT.length || text <= MOST_COUNT);
}

function put(counts: ShardCounts["counts"], generation: number, row: string, count: bigint): void {
  const rows = counts.get(generation);
  if (rows) rows.set(row, count);
  else counts.set(generation, new Map([[row, count]]));
}
