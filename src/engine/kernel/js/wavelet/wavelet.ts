import type { Wavelet } from "../../contract.ts";
import { encode } from "../keys.ts";
import { varying, writeLevel } from "./wavelet-levels.ts";
import { select } from "./wavelet-select.ts";

/** Wavelet matrices in an array. It doubles, so that each word is copied at most twice on average. */
export class JsWavelet implements Wavelet {
  readonly start = 64;
  words = new Uint32Array(1 << 16);

  reserve(end: number): void {
    const needed = Math.ceil(end / 4);
    if (needed <= this.words.length) return;
    const larger = new Uint32Array(Math.max(needed, 2 * this.words.length));
    larger.set(this.words);
    this.words = larger;
  }

  keys(from: number, count: number): number {
    const at = from >>> 2;
    encode(this.words.subarray(at, at + count), 1);
    return varying(this.words, at, count) >>> 0;
  }

  level(piece: number, level: number, keys: number, scratch: number): void {
    writeLevel(this.words, piece >>> 2, level, keys >>> 2, scratch >>> 2);
  }

  select(
    ranges: number,
    count: number,
    loose: number,
    looseCount: number,
    ranks: number,
    rankCount: number,
    out: number,
    room: number,
  ): void {
    const at = (address: number) => address >>> 2;
    select(this.words, at(ranges), count, at(loose), looseCount, at(ranks), rankCount, at(out), at(room));
  }
}
