import { expect, test } from "vitest";
import { readText } from "./outcomes.ts";

const LINE =
  '83.149.9.216 - - [17/May/2015:10:05:03 +0000] "GET /a/b.png?x=1 HTTP/1.1" 200 203023 "http://r/" "Mozilla \\"5\\""';

test("combined: the value is the bytes, the time that of the request", async () => {
  const { readings, valueName } = await readText(`${LINE}\n`);
  expect(readings).toEqual([{ lineNumber: 1, atMs: Date.UTC(2015, 4, 17, 10, 5, 3), value: 203023, key: null }]);
  expect(valueName).toBe("bytes");
});

test.each([
  ["status", "200"],
  ["status-class", "2xx"],
  ["path", "/a/b.png"],
  ["method", "GET"],
  ["host", "83.149.9.216"],
])("key %s", async (key, wanted) => {
  expect((await readText(LINE, { key })).readings[0]?.key).toBe(wanted);
});

test("`-` is 0 bytes; common logs, users with blanks, quotes in requests and empty requests are read", async () => {
  const lines = [
    '::1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 304 -',
    '::1 - J. Doe [17/May/2015:12:05:03 +0200] "GET /\\"q HTTP/1.1" 404 12',
    '::1 - - [17/May/2015:10:05:03 +0000] "" 400 5 "-" "-"',
    '::1 - - [17/May/2015:10:05:03 +0000] "-" 408 6 "-" "-"',
  ];
  const { readings, bad } = await readText(lines.join("\n"), { key: "path" });
  expect(bad).toEqual([]);
  expect(readings.map(({ value, key }) => [value, key])).toEqual([
    [0, "/"],
    [12, '/\\"q'],
    [5, ""],
    [6, ""],
  ]);
  expect(new Set(readings.map(({ atMs }) => atMs)).size).toBe(1);
});

test("the status can be the value; an unknown part is wrong usage", async () => {
  expect((await readText(LINE, { value: "status" })).readings[0]?.value).toBe(200);
  await expect(readText(LINE, { value: "path" })).rejects.toThrow('--value is "path"');
  await expect(readText(LINE, { key: "agent" })).rejects.toThrow('--key is "agent"');
  await expect(readText(LINE, { time: "status" })).rejects.toThrow('--time is "status"');
});

test("bad lines are reported", async () => {
  const { readings, bad } = await readText([LINE, "what?", LINE.replace("17/May", "32/May"), LINE].join("\n"), {
    format: "log",
  });
  expect(readings.length).toBe(2);
  expect(bad).toEqual([
    { lineNumber: 2, reason: "it is not a line of an access log" },
    { lineNumber: 3, reason: 'the time "32/May/2015:10:05:03 +0000" is not a time' },
  ]);
});

test("parsing a hostile line takes linear time", async () => {
  const text = `${LINE}\nh - ${" [".repeat(250_000)}\nh - ${'x ["'.repeat(200_000)}\n`;
  const { bad } = await readText(text, { format: "log", chunkBytes: 65536 });
  expect(bad.length).toBe(2);
});
