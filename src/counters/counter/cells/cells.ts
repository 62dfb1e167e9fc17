import { argumentError } from "../../../base/errors.ts";
import { isStorable, longestValue, readValues, shardOf, valuesText } from "../format/layout.ts";
import { CellMemory, distinctValues, growthOf, keptText, MAP_BYTES } from "./cell-memory.ts";

const MAX_CELLS = 1_000_000;
/** Bound of the memory of all cells. It has room for a million cells with short values. */
const MAX_CELL_BYTES = 128 << 20;
const FIRST_ORDERING = 256;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** One string for each dimension. */
export type CounterValues<Dimension extends string = string> = Readonly<Record<Dimension, string>>;

type Branch = Map<string, Branch | number>;

/**
 * Finds a cell by its values, with one level of maps for each dimension, so that a known cell is found without building
 * a text. A cell stands for all rows of one set of values. The dimension with the most values comes last: a few large
 * maps take half the time of many small ones, which miss the cache. The order is chosen again when the number of cells
 * doubles.
 */
export class Cells {
  readonly #dimensions: readonly string[];
  readonly #shards: number;
  /** The number of leading dimensions that determine a row's shard. */
  readonly #sharded: number;
  #memory = new CellMemory();
  /** Indexes of dimensions, and their names, from the outermost map to the innermost. */
  #order: readonly number[];
  #names: readonly string[];
  #root: Branch = new Map();
  #mapBytes = 0;
  #nextOrdering = FIRST_ORDERING;
  readonly #onForget: () => void;
  readonly #maxBytes: number;

  /** `onForget`: called when the memory is dropped. Batches must copy their counts out of it. */
  constructor(
    dimensions: readonly string[],
    shards: number,
    onForget: () => void = () => {},
    maxBytes = MAX_CELL_BYTES,
    sharded = dimensions.length,
  ) {
    this.#sharded = sharded;
    this.#onForget = onForget;
    this.#maxBytes = maxBytes;
    this.#dimensions = dimensions;
    this.#shards = shards;
    this.#order = [...dimensions.keys()];
    this.#names = dimensions;
  }

  /** The memory of the cells. At a million cells or at its bound in bytes, it is replaced by an empty one. */
  get memory(): CellMemory {
    return this.#memory;
  }

  /** Throws ARGUMENT if a value is missing or invalid. */
  of(values: CounterValues): number {
    const names = this.#names;
    let found: Branch | number | undefined = this.#root;
    for (let i = 0; i < names.length; i++) {
      found = (found as Branch).get(values?.[names[i]!] as string);
      if (found === undefined) return this.#make(values);
    }
    return found as number;
  }

  #make(values: CounterValues): number {
    const texts = checkValues(this.#dimensions, values);
    const bytes = encoder.encode(valuesText(texts));
    if (this.#memory.length >= MAX_CELLS || this.#bytesWith(bytes.length) > this.#maxBytes) this.#forget();
    const isSharded = this.#sharded === texts.length;
    const first = isSharded ? bytes : encoder.encode(valuesText(texts.slice(0, this.#sharded)));
    const cell = this.#memory.append(bytes, shardOf(first, this.#shards));
    this.#plant(texts, cell);
    if (this.#memory.length === this.#nextOrdering) this.#chooseOrder();
    return cell;
  }

  #bytesWith(textBytes: number): number {
    return this.#mapBytes + this.#memory.bytesWith(textBytes);
  }

  #plant(texts: readonly string[], cell: number): void {
    let branch = this.#root;
    for (const dimension of this.#order.slice(0, -1)) {
      let next = branch.get(texts[dimension]!) as Branch | undefined;
      if (!next) {
        next = new Map();
        this.#mapBytes += MAP_BYTES;
        this.#set(branch, texts[dimension]!, next);
      }
      branch = next;
    }
    this.#set(branch, texts[this.#order.at(-1)!]!, cell);
  }

  #set(branch: Branch, text: string, value: Branch | number): void {
    const kept = keptText(text);
    branch.set(kept.text, value);
    this.#mapBytes += kept.bytes + growthOf(branch.size);
  }

  #chooseOrder(): void {
    this.#nextOrdering *= 2;
    const sizes = distinctValues(this.#memory, this.#dimensions.length);
    const order = [...this.#dimensions.keys()].sort((a, b) => sizes[a]! - sizes[b]!);
    if (order.every((dimension, i) => dimension === this.#order[i])) return;
    this.#order = order;
    this.#names = order.map((dimension) => this.#dimensions[dimension]!);
    this.#root = new Map();
    this.#mapBytes = 0;
    for (let cell = 0; cell < this.#memory.length; cell++)
      this.#plant(readValues(decoder.decode(this.#memory.textOf(cell))), cell);
  }

  #forget(): void {
    this.#onForget();
    this.#memory = new CellMemory();
    this.#root = new Map();
    this.#mapBytes = 0;
    this.#nextOrdering = FIRST_ORDERING;
  }
}

/** Values in the order of the dimensions. */
function checkValues(dimensions: readonly string[], values: unknown): string[] {
  if (values === null || typeof values !== "object") throw argumentError("values", values, "an object");
  for (const name in values)
    if (!dimensions.includes(name)) throw argumentError("dimension", name, `one of ${dimensions.join(", ")}`);
  const longest = longestValue(dimensions.length);
  return dimensions.map((dimension) => {
    const value = (values as Record<string, unknown>)[dimension];
    if (!isStorable(value, longest))
      throw argumentError(
        dimension,
        value,
        `a string of at most ${longest} characters, without NUL or half surrogate pairs`,
      );
    return value;
  });
}
