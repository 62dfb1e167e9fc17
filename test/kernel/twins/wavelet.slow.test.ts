import { describe, expect, test } from "vitest";
import type { Wavelet } from "../../../src/engine/kernel/contract.ts";
import { uniformOf } from "../../stats/random.ts";
import { BUILDS } from "../builds.ts";

const SEED = Number(process.env.ORIEL_FUZZ_SEED ?? 25);

const GUARD = 0xa5a5a5a5;

type Draw = (u: () => number) => number;

const shapes: Record<string, Draw> = {
  "spread out": (u) => Math.exp(9 * u()) - 50,
  "of few values": (u) => Math.floor(u() * 4) - 2,
  "all equal": () => 7,
  "any bits": (u) => new Float32Array(Uint32Array.of(Math.floor(u() * 2 ** 32)).buffer)[0]!,
  special: (u) => [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, -0, 1e-45][Math.floor(u() * 6)]!,
};

/** A piece at `address`, as src/engine/stats/wavelet/pieces.ts makes it. Returns the address after it. */
function addPiece(wavelet: Wavelet, values: Float32Array, address: number, keys: number): number {
  const bytes = 12 * (Math.floor(values.length / 64) + 1);
  wavelet.reserve(Math.max(address + 144 + 32 * bytes, keys + 8 * values.length));
  new Float32Array(wavelet.words.buffer, keys, values.length).set(values);
  const vary = wavelet.keys(keys, values.length);
  wavelet.words.set([vary, wavelet.words[keys / 4]!, values.length, bytes], address / 4);
  let levels = 0;
  for (let level = 31; level >= 0; level--)
    if ((vary >>> level) & 1) {
      wavelet.level(address, level, keys, keys + 4 * values.length);
      levels++;
    }
  return address + 144 + levels * bytes;
}

/** In the order of keys: NaN last, -0 before +0. */
function inOrder(values: readonly number[]): string[] {
  const shown = (x: number) => (Object.is(x, -0) ? "-0" : String(x));
  return Array.from(Float32Array.from(values).sort(), shown);
}

function shownOf(key: number): string {
  const x = new Float32Array(Uint32Array.of(key ^ (~(key >> 31) | 0x80000000)).buffer)[0]!;
  return Object.is(x, -0) ? "-0" : String(x);
}

describe.each(BUILDS)("wavelet matrices of $name", (kernel) => {
  for (const [shape, draw] of Object.entries(shapes))
    test(`select like a sort, over parts of pieces and loose keys; values ${shape}, seed ${SEED}`, () => {
      const u = uniformOf(SEED + shape.length);
      const below = (n: number) => Math.floor(u() * n);
      for (const counts of [[1], [64], [63, 65], [1000, 192, 1, 40], [20_000, 3]]) {
        const wavelet = kernel.wavelet();
        const pieces: { address: number; values: Float32Array }[] = [];
        let end = wavelet.start + 4096;
        for (const count of counts) {
          const values = Float32Array.from({ length: count }, () => draw(u));
          pieces.push({ address: end, values });
          end = Math.ceil(addPiece(wavelet, values, end, end + (1 << 19)) / 16) * 16;
        }
        wavelet.reserve(end + 4096 + 48 * counts.length * 8);
        for (let query = 0; query < 12; query++) {
          const { start, words } = wavelet;
          const inside: number[] = [];
          let at = end / 4;
          for (const { address, values } of pieces) {
            const ends = query === 0 ? [0, values.length] : [below(values.length + 1), below(values.length + 1)];
            const [l, r] = ends.sort((a, b) => a - b) as [number, number];
            if (l === r) continue;
            words.set([address, l, r], at);
            at += 3;
            inside.push(...values.subarray(l, r));
          }
          const loose = Float32Array.from({ length: below(60) }, () => draw(u));
          new Float32Array(words.buffer, start, loose.length).set(loose);
          inside.push(...loose);
          if (inside.length === 0) continue;
          if (loose.length > 0) wavelet.keys(start, loose.length);
          const drawn = [0, inside.length - 1, ...Array.from({ length: 5 }, () => below(inside.length))];
          const ranks = [...new Set(drawn)].sort((a, b) => a - b);
          words.set(ranks, start / 4 + 256);
          const count = (at - end / 4) / 3;
          const out = start + 2048;
          const room = end + 12 * counts.length;
          const guard = (room + ranks.length * (88 + 48 * count)) / 4;
          words.fill(GUARD, guard, guard + 64);
          wavelet.select(end, count, start, loose.length, start + 1024, ranks.length, out, room);
          const sorted = inOrder(inside);
          const answers = Array.from(words.subarray(out / 4, out / 4 + ranks.length), shownOf);
          expect(answers).toEqual(ranks.map((rank) => sorted[rank]));
          expect(words.subarray(guard, guard + 64).every((word) => word === GUARD)).toBe(true);
        }
      }
    });

  test("of two memories do not share anything", () => {
    const [one, other] = [kernel.wavelet(), kernel.wavelet()];
    for (const wavelet of [one, other]) wavelet.reserve(wavelet.start + 4096);
    one.words.fill(1);
    expect(other.words.subarray(other.start / 4).every((word) => word === 0)).toBe(true);
  });
});
