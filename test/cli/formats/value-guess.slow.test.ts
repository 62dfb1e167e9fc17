import { expect, test } from "vitest";
import { readText } from "./outcomes.ts";

const valuesOf = async (text: string, selection: { key?: string; chunkBytes?: number } = {}) => {
  const { readings, bad, valueName, guess, others } = await readText(text, { chunkBytes: 1000, ...selection });
  return { name: valueName, guess, others, values: readings.map(({ value }) => value), badCount: bad.length };
};

test.each([7, 1000])("the only column of numbers is the value, in chunks of %d bytes", async (chunkBytes) => {
  const csv = "time,host,took\n1394163660,a,5\n1394163661,b,6\n";
  expect(await valuesOf(csv, { chunkBytes })).toEqual({
    name: "took",
    guess: "value took, the only column of numbers",
    others: [],
    values: [5, 6],
    badCount: 0,
  });
});

test("a known name wins if its column holds numbers, else another column of numbers does", async () => {
  expect(await valuesOf("time,size,latency\n1,10,5\n")).toMatchObject({
    name: "latency",
    guess: undefined,
    values: [5],
  });
  expect(await valuesOf("time,latency,took\n1,fast,5\n2,slow,6\n")).toMatchObject({ name: "took", values: [5, 6] });
});

test("of several columns of numbers, the only one with a unit in its name", async () => {
  expect(await valuesOf("time,port,wait_ms\n1,80,5\n")).toMatchObject({
    name: "wait_ms",
    guess: "value wait_ms, the only column of numbers with a unit in its name",
  });
});

test.each([
  ["time,a,b,host\n1,2,3,x\n", "several columns hold numbers, name one of them: a, b"],
  ["2014-03-07 03:41:00,2,3\n", "several columns hold numbers, name one of them: 2, 3"],
  ['{"time":1,"a":2,"b":{"c":3}}\n', "several fields hold numbers, name one of them: a, b.c"],
])("several that are equally likely are refused by their names: %j", async (text, message) => {
  await expect(readText(text)).rejects.toThrow(message);
  await expect(readText(text)).rejects.toMatchObject({ code: "ARGUMENT" });
});

test("a time that no name shows, and a header without rows, are guesses", async () => {
  expect(await valuesOf("a,b\n5,1394163660\n")).toMatchObject({
    name: "a",
    guess: "value a, the only other column",
    others: ["time b, the only column of times"],
    values: [5],
  });
  const small = { name: "ms", others: ["time Time, in s or ms since 1970"], values: [5] };
  expect(await valuesOf("Time,ms\n12.5,5\n")).toMatchObject(small);
  expect(await valuesOf("Time,ms\n1394163660,5\n")).toMatchObject({ others: [] });
  expect(await valuesOf("time,some text\n")).toMatchObject({ others: ["the first line is a header"], values: [] });
});

test("a column is one of numbers if at least half of its first values are", async () => {
  const csv = "time,host,took\n1,a,-\n2,b,6\n3,c,7\n";
  expect(await valuesOf(csv)).toMatchObject({ name: "took", values: [6, 7], badCount: 1 });
});

test("times and the key are no candidates; one column that remains is a guess if its name does not say it", async () => {
  expect(await valuesOf("timestamp,date,zone,took\n1,2014-03-07,7,5\n", { key: "zone" })).toMatchObject({
    name: "took",
  });
  expect(await valuesOf("timestamp,took\n1,5\n")).toMatchObject({
    name: "took",
    guess: "value took, the only other column",
    values: [5],
  });
  expect(await valuesOf("timestamp,latency\n1,5\n")).toMatchObject({ name: "latency", guess: undefined });
  expect(await valuesOf("1394163660,5\n")).toMatchObject({ name: "value", guess: undefined, others: [] });
});

test("NDJSON: the only field of numbers, also a nested one", async () => {
  const lines = [1, 2].map((n) => JSON.stringify({ ts: n, host: "a", request: { took: n * 10 } }));
  expect(await valuesOf(`${lines.join("\n")}\n`)).toEqual({
    name: "request.took",
    guess: "value request.took, the only field of numbers",
    others: ["time ts, in s or ms since 1970"],
    values: [10, 20],
    badCount: 0,
  });
});
