// The golden cases that travel with the script are cases of NumPy's golden file.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface Golden {
  q: number[];
  cases: { kind: string; n: number; dtype: string; pct?: Record<string, string[]> }[];
}

const FILE = new URL("../data/numpy-golden.json", import.meta.url);
const read = (file: URL): Golden => JSON.parse(readFileSync(file, "utf8"));
const taken = read(new URL("golden.json", import.meta.url));

test("six cases of four kinds and both widths, by 13 methods, are correct", () => {
  expect(taken.cases).toHaveLength(6);
  expect(new Set(taken.cases.map(({ kind }) => kind)).size).toBe(4);
  expect(new Set(taken.cases.map(({ dtype }) => dtype))).toEqual(new Set(["f4", "f8"]));
  for (const { pct } of taken.cases) expect(Object.values(pct!).map((each) => each.length)).toEqual(Array(13).fill(9));
});

test("the cases equal those of the whole file", () => {
  const whole = read(FILE);
  const places = taken.q.map((q) => whole.q.indexOf(q));
  for (const { pct, ...known } of taken.cases) {
    const same = ({ kind, n, dtype }: Golden["cases"][number]) =>
      kind === known.kind && n === known.n && dtype === known.dtype;
    const full = whole.cases.find(same)!;
    expect(full).toMatchObject(known);
    for (const [method, answers] of Object.entries(pct!))
      expect(answers).toEqual(places.map((place) => full.pct![method]![place]));
  }
});
