import { expect, test } from "vitest";
import { readText } from "./outcomes.ts";

const T = 1394163660000;

test("reads the names of times in each line, times as text, seconds and ms", async () => {
  const text = [
    { timestamp: "2014-03-07T03:41:00Z", value: 1 },
    { ts: T / 1000, value: 2 },
    { time: T, value: "3" },
  ];
  const { readings, bad } = await readText(text.map((record) => JSON.stringify(record)).join("\n"));
  expect(bad).toEqual([]);
  expect(readings.map(({ atMs, value, key }) => [atMs, value, key])).toEqual([
    [T, 1, null],
    [T, 2, null],
    [T, 3, null],
  ]);
});

test("reads paths, names with dots, and keys of any scalar type", async () => {
  const text = `{"at":{"s":1394163660},"a.b":7,"host":{"id":12,"up":true}}\n`;
  const { readings } = await readText(text, { time: "at.s", value: "a.b", key: "host.id" });
  expect(readings).toEqual([{ lineNumber: 1, atMs: T, value: 7, key: "12" }]);
  expect((await readText(text, { time: "at.s", value: "a.b", key: "host.up" })).readings[0]?.key).toBe("true");
});

test("bad lines are reported", async () => {
  const text = [
    `{"time":${T},"value":1,"k":"a"}`,
    `{"time":${T},"value":1`,
    "[1]",
    "null",
    `{"value":1,"k":"a"}`,
    `{"time":${T},"value":null,"k":"a"}`,
    `{"time":${T},"value":{"x":1},"k":"a"}`,
    `{"time":${T},"value":1}`,
    "",
    `{"time":${T},"value":2,"k":"a"}`,
  ].join("\r\n");
  const { readings, bad } = await readText(text, { key: "k", format: "ndjson" });
  expect(readings.map(({ lineNumber }) => lineNumber)).toEqual([1, 10]);
  expect(bad.map(({ lineNumber, reason }) => ({ lineNumber, reason }))).toEqual([
    { lineNumber: 2, reason: "it is not JSON" },
    { lineNumber: 3, reason: "it is not a JSON object" },
    { lineNumber: 4, reason: "it is not a JSON object" },
    { lineNumber: 5, reason: "there is no time" },
    { lineNumber: 6, reason: "there is no value" },
    { lineNumber: 7, reason: "there is no value" },
    { lineNumber: 8, reason: "there is no key" },
  ]);
});

test("a key that is not Unicode text is a bad line", async () => {
  const text = `{"time":${T},"value":1,"k":"\\ud800"}\n{"time":${T},"value":1,"k":"a"}\n`;
  const { bad } = await readText(text, { key: "k", format: "ndjson" });
  expect(bad).toEqual([{ lineNumber: 1, reason: 'the key "\\ud800" is not Unicode text' }]);
});

test("names of Object.prototype are no fields", async () => {
  const reading = readText(`{"time":${T},"value":1}\n`, { key: "__proto__.constructor" });
  await expect(reading).rejects.toThrow("there is no key");
});
