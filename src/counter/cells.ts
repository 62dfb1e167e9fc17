import { argumentError } from "../errors.ts";
import { isStorable, longestValue } from "./bounds.ts";
import { valuesText } from "./field.ts";
import { shardOf } from "./layout.ts";
import { packString } from "./message-pack.ts";

const MOST_CELLS = 1_000_000;

/** One string for each dimension. */
export type Values = Readonly<Record<string, string>>;

/** All rows of one set of values, as a producer knows them: where they lie, and the row that was counted last. */
export interface Cell {
  readonly shard: number;
  /** What follows the start in a field. */
  readonly text: string;
  /** The last row's start, and its field as a step is given it. */
  startMinute: number;
  field: Uint8Array;
  /** The open batch that counts this row, and its count there: what is touched for every event lies together. */
  batch: object | undefined;
  count: number;
}

type Branch = Map<string, Branch | Cell>;

/** Finds cells by values, one map for each dimension: no text is made for a cell that is known. */
export class Cells {
  readonly #dimensions: readonly string[];
  readonly #shards: number;
  #root: Branch = new Map();
  #count = 0;

  constructor(dimensions: readonly string[], shards: number) {
    this.#dimensions = dimensions;
    this.#shards = shards;
  }

  /** Throws ARGUMENT where a value is missing or not what one may be. */
  of(values: Values): Cell {
    let found: Branch | Cell | undefined = this.#root;
    for (const dimension of this.#dimensions) {
      found = (found as Branch).get(values[dimension]!);
      if (found === undefined) return this.#make(values);
    }
    return found as Cell;
  }

  #make(values: Values): Cell {
    const texts = checkValues(this.#dimensions, values);
    const text = valuesText(texts);
    const bytes = new TextEncoder().encode(text);
    const shard = shardOf(bytes, this.#shards);
    const cell = { shard, text, startMinute: Number.NaN, field: bytes, batch: undefined, count: 0 };
    if (this.#count++ >= MOST_CELLS) {
      this.#root = new Map();
      this.#count = 1;
    }
    let branch = this.#root;
    for (const each of texts.slice(0, -1)) {
      let next = branch.get(each) as Branch | undefined;
      if (!next) {
        next = new Map();
        branch.set(each, next);
      }
      branch = next;
    }
    branch.set(texts.at(-1)!, cell);
    return cell;
  }
}

/** Makes another row the cell's last. */
export function moveTo(cell: Cell, startMinute: number): void {
  if (cell.startMinute === startMinute) return;
  cell.startMinute = startMinute;
  cell.field = packString(`${startMinute}${cell.text}`);
}

/** Values in the order of the dimensions. */
export function checkValues(dimensions: readonly string[], values: unknown): string[] {
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
