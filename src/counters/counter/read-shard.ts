import type { Store } from "../../store/contract.ts";
import { dimensionCounts, isStorable, longestValue, MAX_START_MS, MIN_START_MS, readValues } from "./format/layout.ts";
import { type Page, page } from "./steps/reads.ts";

const FIELDS_PER_PAGE = 1000;
/** More fields than a shard has, so that one step reads them all. */
const ALL_FIELDS = 2 ** 31 - 1;
const MAX_COUNT = `${2n ** 63n - 1n}`;

/** A field with a value that no version of oriel writes. */
export interface DamagedField {
  /** The generation, by its number in the ledger. */
  generation: number;
  field: string;
  value: string;
}

/** The contents of a shard. Generations have their numbers in the ledger. */
export interface ShardCounts {
  /** Counts of generations that are not acknowledged, by generation and row (`<start>|<value>...`). */
  counts: Map<number, Map<string, bigint>>;
  acknowledged: number;
  /** The base that was added to the fields' numbers of generations. */
  base: number;
  /** Nonces of frozen generations, by generation. */
  nonces: Map<number, string>;
  /** Stored sums, by generation. */
  sums: Map<number, string>;
  /** Fields that no longer count. */
  leftovers: string[];
  /** Unreadable rows of generations that are not acknowledged, and those that `add` has set aside. */
  damaged: DamagedField[];
  /** When the shard was created, and the ledger of its last repair, as stored. */
  born: string | undefined;
  rebased: string | undefined;
  /** The values of the producers' marks. */
  producers: Map<string, string>;
}

/**
 * Reads a shard. "whole": in one step, at one instant, which takes about 1 us per field. "pages": in several steps.
 * Then only a generation that was frozen before is exact, and only if the shard does not move to another server during
 * the read.
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
    born: undefined,
    rebased: undefined,
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

/** Parses fields. Fields of later pages replace those of earlier ones. */
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
      if (field === "@born") shard.born = value;
      else if (field === "@rebased") shard.rebased = value;
      else if (field.startsWith("w:")) shard.producers.set(field, value);
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
      // Unreadable fields stay in the shard for an operator to inspect.
      if (isGood) this.leftovers.add(field);
    } else if (isGood) put(this.#shard.counts, own + base, row, BigInt(value));
    else if (!this.#damaged.has(field)) {
      this.#damaged.add(field);
      this.#shard.damaged.push({ generation: own + base, field, value });
    }
  }
}

/** Whether HINCRBY can have written the value: a whole number up to 2^63 - 1. */
function isCount(text: string): boolean {
  return /^\d{1,19}$/.test(text) && (text.length < MAX_COUNT.length || text <= MAX_COUNT);
}

function put(counts: ShardCounts["counts"], generation: number, row: string, count: bigint): void {
  const rows = counts.get(generation);
  if (rows) rows.set(row, count);
  else counts.set(generation, new Map([[row, count]]));
}

const MINUTE_MS = 60_000;
const known = new Map<string, { first: number; all: number }>();

function countsOf(layout: string): { first: number; all: number } {
  let counts = known.get(layout);
  if (counts === undefined) {
    counts = dimensionCounts(layout);
    if (known.size > 1000) known.clear();
    known.set(layout, counts);
  }
  return counts;
}

/** Whether a counter of this layout or of an older one can have written the row `<start>|<value>...`. */
function isRow(row: string, layout: string): boolean {
  const bar = row.indexOf("|");
  const start = row.slice(0, bar);
  if (bar < 1 || !/^-?\d{1,10}$/.test(start)) return false;
  const startMs = Number(start) * MINUTE_MS;
  if (startMs < MIN_START_MS || startMs > MAX_START_MS) return false;
  // Only these three characters are escaped.
  if (row.includes("%") && /%(?!25|7c|0a)/.test(row)) return false;
  const values = readValues(row);
  const { first, all } = countsOf(layout);
  const longest = longestValue(values.length);
  return values.length >= first && values.length <= all && values.every((value) => isStorable(value, longest));
}
