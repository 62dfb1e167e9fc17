import fc from "fast-check";
import { expect, test } from "vitest";
import { Cells } from "../../src/counters/counter/cells/cells.ts";
import { readValues, shardOf, valuesText } from "../../src/counters/counter/format/layout.ts";

const decoder = new TextDecoder();

function textOf(cells: Cells, cell: number): string {
  return decoder.decode(cells.memory.textOf(cell));
}

test("each set of values is one cell, whatever the order of the maps", () => {
  const value = fc.oneof(
    fc.nat(300).map(String),
    fc.constantFrom("", "|", "%", "a|b", "a", "b", "%7c", "\n", "é", "日本"),
  );
  const all = fc.array(fc.record({ a: value, b: value, c: value }), { minLength: 300, maxLength: 1200 });
  fc.assert(
    fc.property(all, fc.integer({ min: 1, max: 1024 }), (events, shards) => {
      const cells = new Cells(["a", "b", "c"], shards);
      const known = new Map<string, number>();
      for (const values of events) {
        const text = valuesText([values.a, values.b, values.c]);
        const cell = cells.of(values);
        expect(cell).toBe(known.get(text) ?? known.size);
        known.set(text, cell);
      }
      for (const [text, cell] of known) {
        const [a, b, c] = readValues(text) as [string, string, string];
        expect(cells.of({ c, b, a })).toBe(cell);
        expect(textOf(cells, cell)).toBe(text);
        expect(cells.memory.shardOf(cell)).toBe(shardOf(new TextEncoder().encode(text), shards));
      }
    }),
    { numRuns: 20 },
  );
});

test("a cell's numbers do not change while others are added", () => {
  const cells = new Cells(["a"], 7);
  const batch = cells.memory.newBatch();
  const count = (n: number) => {
    const cell = cells.of({ a: `${n}` });
    expect(cells.memory.isCountedBy(batch, cell, -n)).toBe(false);
    cells.memory.count(cell, n + 0.5);
  };
  for (let n = 0; n < 5000; n++) count(n);
  for (let n = 0; n < 5000; n++) {
    const cell = cells.of({ a: `${n}` });
    expect([cells.memory.startOf(cell), cells.memory.countOf(cell)]).toEqual([-n, n + 0.5]);
    expect(cells.memory.isCountedBy(batch, cell, -n)).toBe(true);
  }
});

test("after a million cells all are dropped, and their counts are kept", () => {
  const cells = new Cells(["a"], 1);
  const { memory } = cells;
  for (let n = 0; n < 1_000_000; n++) cells.of({ a: `${n}` });
  expect(cells.memory).toBe(memory);
  expect(cells.of({ a: "12" })).toBe(12);
  expect(cells.of({ a: "one more" })).toBe(0);
  expect(cells.memory).not.toBe(memory);
  expect(decoder.decode(memory.textOf(999_999))).toBe("|999999");
  expect(cells.of({ a: "12" })).toBe(1);
});
