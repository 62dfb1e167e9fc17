import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CounterShape } from "../../../src/entries/sql.ts";
import { STAGES, type Stage } from "../stages.ts";
import { asRead, batch, freshShape, MINUTE, row } from "./batches.ts";

describe.each(Object.keys(STAGES))("values written into %s", (name) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await STAGES[name]!();
  });
  afterAll(() => stage.stop());

  async function made(dimensions?: readonly string[]) {
    const sink = stage.sink();
    const shape = freshShape(dimensions);
    await sink.createTables(shape);
    return {
      sink,
      shape,
      ledger: () => sink.ledger(shape),
      rows: async () => (await sink.read(shape, { bucket: "minute" })).rows,
    };
  }

  test("counts above 2^53 are exact, and a batch that would exceed 2^63 - 1 fails as a whole", async () => {
    const { sink, shape, rows, ledger } = await made();
    const large = 2n ** 62n + 1n;
    await sink.apply(shape, batch([row(["a", "1"], large), row(["b", "1"], 2n ** 53n + 1n)], { events: large }));
    const next = { generation: 2, nonce: "b2" };
    await sink.apply(shape, batch([row(["a", "1"], 2n ** 62n - 3n), row(["b", "1"], 1n)], { ...next, events: 1n }));
    const full = [row(["a", "1"], 2n ** 63n - 2n), row(["b", "1"], 2n ** 53n + 2n)];
    expect(await rows()).toEqual(asRead(shape, full));
    const over = batch([row(["b", "1"], 1n), row(["a", "1"], 2n)], { generation: 3, nonce: "c3", events: 0n });
    await expect(sink.apply(shape, over)).rejects.toMatchObject({ transient: false, applied: "no" });
    expect(await rows()).toEqual(asRead(shape, full));
    expect(await ledger()).toEqual([{ shard: 0, generation: 2, nonce: "b2", fence: 7, events: large + 1n }]);
  });

  test("odd values are stored unchanged", async () => {
    const { sink, shape } = await made(["v"]);
    const odd = [
      "",
      " ",
      "a",
      "A",
      "a ",
      "a  ",
      " a",
      "'",
      "''",
      '"',
      "\\",
      "\\\\",
      "\\x",
      "`",
      "NULL",
      "null",
      "%",
      "_",
    ];
    odd.push(
      "{",
      "}",
      ",",
      "{a,b}",
      "|",
      "\n",
      "\t",
      "\r\n",
      "é",
      "e\u0301",
      "ß",
      "ss",
      "İ",
      "ı",
      "日本",
      "🚲",
      "$1",
      ":1",
    );
    odd.push(
      "?",
      "--",
      "/*",
      "*/",
      "x'",
      "\u200b",
      "\ufeff",
      "\u{10ffff}",
      "z".repeat(255),
      "é".repeat(255),
      "0",
      "00",
      "1e3",
    );
    const rows = odd.map((value, i) => row([value], BigInt(i + 1)));
    await sink.apply(shape, batch(rows));
    await sink.apply(shape, batch(rows, { generation: 2, nonce: "b2" }));
    const read = (await sink.read(shape, { bucket: "minute" })).rows;
    const found = new Map(read.map(({ values, count }) => [values.v, count]));
    expect(found).toEqual(new Map(odd.map((value, i) => [value, BigInt(2 * i + 2)])));
    for (const value of odd)
      expect((await sink.read(shape, { bucket: "minute", values: { v: value } })).rows.map((r) => r.values)).toEqual([
        { v: value },
      ]);
  });

  test("odd names of counters, tables, columns and dimensions are accepted", async () => {
    const quote = name === "recorded Oracle" ? "'" : '"';
    const odd = `it's ${quote}odd${quote} \\ ; 日本`;
    const sink = stage.sink({
      table: `${odd} table`,
      ledgerTable: `${odd} ledger`,
      columns: { count: "select", start: "order by", bucket: "group", dimensions: { "to site": `${odd} x` } },
    });
    const shape: CounterShape = { name: `${odd} counter`, dimensions: ["to site", "d0", "start"], buckets: ["minute"] };
    await sink.createTables(shape);
    await sink.apply(shape, batch([row(["1", "2", "3"], 4n)]));
    expect((await sink.read(shape, { bucket: "minute", values: { "to site": "1", d0: "2" } })).rows).toEqual(
      asRead(shape, [row(["1", "2", "3"], 4n)]),
    );
    expect(await sink.ledger(shape)).toHaveLength(1);
  });

  test("counters in one ledger are separate, whatever the case and accents of their names", async () => {
    const sink = stage.sink({ ledgerTable: "shared_ledger" });
    for (const [i, counter] of ["visits", "Visits", "visits "].entries()) {
      const shape = { ...freshShape(), name: counter };
      const own = stage.sink({ ledgerTable: "shared_ledger", table: `visits_${i}` });
      await own.createTables(shape);
      expect(await own.apply(shape, batch([row(["a", "1"], 1n)], { shard: 3 }))).toEqual({ status: "applied" });
      expect(await own.apply(shape, batch([row(["a", "1"], 1n)], { shard: 4 }))).toEqual({ status: "applied" });
      expect((await sink.ledger(shape)).map(({ shard }) => shard)).toEqual([3, 4]);
    }
  });

  test("counters may have no dimension or many", async () => {
    for (const dimensions of [[], Array.from({ length: 6 }, (_, i) => `d${i}`)]) {
      const { sink, shape, rows } = await made(dimensions);
      const values = dimensions.map((_, i) => `${i}`.repeat(765 / 6));
      await sink.apply(shape, batch([row(values, 1n)]));
      await sink.apply(shape, batch([row(values, 2n)], { generation: 2, nonce: "b" }));
      expect(await rows()).toEqual(asRead(shape, [row(values, 3n)]));
    }
  });

  test("starts are stored in UTC, across month ends and hours that time zones skip or repeat", async () => {
    const { sink, shape } = await made(["v"]);
    const starts = ["2026-01-31T23:59", "2026-02-01T00:00", "2024-02-29T00:00", "2026-03-29T01:00", "2026-03-29T02:30"];
    starts.push("2026-03-08T02:30", "2026-10-25T01:30", "2026-10-25T02:30", "1969-12-31T23:59", "1000-01-01T00:00");
    starts.push("9999-12-31T23:59", "0999-12-31T23:59");
    const rows = starts.slice(0, -1).map((text) => row(["x"], 1n, Date.parse(`${text}:00Z`)));
    await sink.apply(shape, batch(rows));
    const sorted = [...rows].sort((a, b) => a.startMs - b.startMs);
    expect((await sink.read(shape, { bucket: "minute" })).rows).toEqual(asRead(shape, sorted));
    const tooEarly = row(["x"], 1n, Date.parse(`${starts.at(-1)}:00Z`));
    await expect(sink.apply(shape, batch([tooEarly], { generation: 2 }))).rejects.toMatchObject({ code: "ARGUMENT" });
    const [text] = sink.ddl(shape).slice(1);
    expect(text).toMatch(/timestamptz|DATETIME|TEXT|TIMESTAMP/);
  });

  test("half-open ranges, buckets and values can be read", async () => {
    const { sink, shape } = await made();
    const rows = [0, 1, 2, 3].flatMap((i) => [
      row(["a", `${i % 2}`], BigInt(i + 1), MINUTE + i * 60_000),
      row(["b", "0"], BigInt(10 * i + 1), MINUTE + i * 60_000),
    ]);
    rows.push(row(["a", "0"], 99n, Date.UTC(2026, 0, 31), "day"));
    await sink.apply(shape, batch(rows));
    const counts = async (query: object) =>
      (await sink.read(shape, { bucket: "minute", ...query })).rows.map(({ count }) => Number(count));
    expect(await counts({})).toEqual([1, 1, 2, 11, 3, 21, 4, 31]);
    expect(await counts({ fromMs: MINUTE + 60_000, toMs: MINUTE + 180_000 })).toEqual([2, 11, 3, 21]);
    expect(await counts({ fromMs: MINUTE + 1, toMs: MINUTE + 60_001 })).toEqual([2, 11]);
    expect(await counts({ values: { site: "a" } })).toEqual([1, 2, 3, 4]);
    expect(await counts({ values: { site: "a", lane: "1" }, fromMs: MINUTE + 120_000 })).toEqual([4]);
    expect(await counts({ bucket: "day" })).toEqual([99]);
    expect(await counts({ fromMs: -8.64e15, toMs: 8.64e15 })).toHaveLength(8);
    expect(await counts({ fromMs: 8.64e15 })).toEqual([]);
  });
});
