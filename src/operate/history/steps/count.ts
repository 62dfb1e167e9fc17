import { corruptError } from "../../../base/errors.ts";
import {
  BIN_BYTES,
  BIN_COUNT_AT,
  BIN_MS,
  BIN_NUMBER_AT,
  BINS,
  LINES_READ_BYTES,
  LINES_READ_NOW_MS_AT,
} from "../../../generated/layouts/history.ts";
import { countScript } from "../../../generated/scripts/history.ts";
import type { Operation } from "../../../store/contract.ts";

export interface CountInput {
  /** 0 adds none. */
  added: number;
  /** Number of bins that are read, the present one last. 0 reads none. */
  bins: number;
}

/** What happened in the bin of this number: from `number * BIN_MS` until the next bin begins. */
export interface Bin {
  readonly number: number;
  readonly count: number;
}

/** A ring in the memory store: bins by their place. */
class Ring {
  readonly bins: ReadonlyMap<number, Bin>;
  constructor(bins: ReadonlyMap<number, Bin>) {
    this.bins = bins;
  }
}

/**
 * Adds to a count of what a structure did, and reads its last bins, in no order. Bins of an earlier round may be among them.
 * lua/history/count.lua states the law. It is not repeated after a lost answer, so a count is never too large.
 */
export const count: Operation<CountInput, { nowMs: number; bins: readonly Bin[] }> = {
  name: "history/count",
  script: countScript,
  arity: 2,
  keyCount: 1,
  repeatable: false,
  encode: ({ added, bins }) => [added, bins],
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset, reply.byteLength);
    const bins: Bin[] = [];
    for (let at = LINES_READ_BYTES; at < reply.length; at += BIN_BYTES) {
      const number = view.getUint32(at + BIN_NUMBER_AT, true);
      if (number > 0) bins.push({ number, count: view.getFloat64(at + BIN_COUNT_AT, true) });
    }
    return { nowMs: view.getFloat64(LINES_READ_NOW_MS_AT, true), bins };
  },
  local(keys, key, { added, bins: wanted }, nowMs) {
    const ring = keys.get(key) ?? new Ring(new Map());
    if (!(ring instanceof Ring)) throw corruptError(key, "it is not a ring of counts");
    const current = Math.floor(nowMs / BIN_MS);
    let { bins } = ring;
    if (added > 0) {
      const { number, count: before } = bins.get(current % BINS) ?? { number: 0, count: 0 };
      const sum = number === current ? before + added : added;
      bins = new Map(bins).set(current % BINS, { number: current, count: sum });
      keys.set(key, new Ring(bins), bins.size * 2 * BIN_BYTES, nowMs + BINS * BIN_MS);
    }
    const isWanted = (place: number) => (((current - place) % BINS) + BINS) % BINS < wanted;
    return { nowMs, bins: [...bins].filter(([place]) => isWanted(place)).map(([, bin]) => bin) };
  },
};
