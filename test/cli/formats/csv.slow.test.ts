import { expect, test } from "vitest";
import { readText } from "./outcomes.ts";

const T = 1394163660000;

test("a header has default names", async () => {
  const { readings, bad, lineCount, valueName } = await readText("timestamp,value\n2014-03-07 03:41:00,45.868\n");
  expect(readings).toEqual([{ lineNumber: 2, atMs: T, value: 45.868, key: null }]);
  expect(bad).toEqual([]);
  expect(lineCount).toBe(2);
  expect(valueName).toBe("value");
});

test("without a header the first column is the time, the second the value", async () => {
  const { readings } = await readText("1394163660,1\n1394163661,-2.5e1\n");
  expect(readings.map(({ atMs, value }) => [atMs, value])).toEqual([
    [T, 1],
    [T + 1000, -25],
  ]);
});

test("columns are found by name and by number, in any order", async () => {
  const text = "site;ms;when\nA;12;2014-03-07T03:41:00Z\nB;13;2014-03-07T03:41:01Z\n";
  const byName = await readText(text, { time: "when", value: "ms", key: "site" });
  const byNumber = await readText(text, { time: "3", value: "2", key: "1" });
  expect(byName.readings).toEqual([
    { lineNumber: 2, atMs: T, value: 12, key: "A" },
    { lineNumber: 3, atMs: T + 1000, value: 13, key: "B" },
  ]);
  expect(byNumber.readings).toEqual(byName.readings);
  expect(byNumber.valueName).toBe("ms");
});

test("a header with numbers as names is recognised by a requested name", async () => {
  const { readings } = await readText("when,99\n1394163660,7\n", { time: "when", value: "99" });
  expect(readings).toEqual([{ lineNumber: 2, atMs: T, value: 7, key: null }]);
});

test("reads quotes, quoted delimiters, records over several lines, tabs, CRLF, BOM, and a missing last newline", async () => {
  const text =
    '\ufefftime,value,note\r\n"1394163660","1","a, ""b"""\r\n1394163661,2,"two\r\nlines"\r\n\r\n1394163662,"3",x';
  const { readings, bad } = await readText(text, { key: "note" });
  expect(bad).toEqual([]);
  expect(readings.map(({ lineNumber, value, key }) => [lineNumber, value, key])).toEqual([
    [2, 1, 'a, "b"'],
    [3, 2, "two\nlines"],
    [6, 3, "x"],
  ]);
  expect((await readText("time\tvalue\n1394163660\t4\n")).readings[0]?.value).toBe(4);
});

test("bad lines are reported with number and reason, and affect no other line", async () => {
  const text = [
    "time,value",
    "1394163660,1",
    "yesterday,2",
    "1394163660,much",
    "1394163660,NaN",
    "1394163660,1e999",
    "1394163660,",
    "1394163660",
    "1394163660,0x10",
    '1394163660,"3"x',
    "1394163660,2",
  ].join("\n");
  const { readings, bad } = await readText(text, { format: "csv" });
  expect(readings.map(({ value }) => value)).toEqual([1, 2]);
  expect(bad.map(({ lineNumber, reason }) => ({ lineNumber, reason }))).toEqual([
    { lineNumber: 3, reason: 'the time "yesterday" is not a time' },
    { lineNumber: 4, reason: 'the value "much" is not a finite number' },
    { lineNumber: 5, reason: 'the value "NaN" is not a finite number' },
    { lineNumber: 6, reason: 'the value "1e999" is not a finite number' },
    { lineNumber: 7, reason: 'the value "" is not a finite number' },
    { lineNumber: 8, reason: "it has 1 field, not 2" },
    { lineNumber: 9, reason: 'the value "0x10" is not a finite number' },
    { lineNumber: 10, reason: "a quote is misplaced" },
  ]);
});

test("an unclosed quote is one bad line", async () => {
  const rest = Array.from({ length: 250 }, (_, i) => `139416366${i % 10},${i}`);
  const { readings, bad, lineCount } = await readText(["time,value", '1394163660,"oops', ...rest].join("\n"));
  expect(bad).toEqual([{ lineNumber: 2, reason: "a quote is not closed" }]);
  expect(readings.map(({ value }) => value)).toEqual(rest.map((_, i) => i));
  expect(lineCount).toBe(252);
});

test("an unclosed quote on the last lines loses only its own line", async () => {
  const { readings, bad } = await readText('time,value\n1394163660,"oops\n1394163661,5\n', { format: "csv" });
  expect(bad.map(({ lineNumber }) => lineNumber)).toEqual([2]);
  expect(readings.map(({ value }) => value)).toEqual([5]);
});

test("an empty file and a lone header have no events", async () => {
  expect(await readText("")).toMatchObject({ readings: [], bad: [], lineCount: 0 });
  expect(await readText("\n \n\r\n")).toMatchObject({ readings: [], bad: [], lineCount: 0 });
  expect(await readText("timestamp,value\n")).toMatchObject({ readings: [], bad: [], lineCount: 1 });
});

test("a huge line is one bad line", async () => {
  const { readings, bad } = await readText(`time,value\n1394163660,1\n${"9".repeat(3 << 20)}\n1394163660,2`, {
    format: "csv",
    chunkBytes: 65536,
  });
  expect(bad).toEqual([{ lineNumber: 3, reason: "it is too long" }]);
  expect(readings.map(({ value }) => value)).toEqual([1, 2]);
});

test("a missing column is wrong usage, and the message names the existing ones", async () => {
  await expect(readText("when,ms\n1394163660,1\n", { value: "seconds" })).rejects.toMatchObject({
    code: "ARGUMENT",
    message: expect.stringContaining('--value is "seconds"; it must be one of the columns when, ms'),
  });
  await expect(readText("1394163660,1\n", { value: "3" })).rejects.toThrow("a column number from 1 to 2");
});

test("an unclosed quote is one bad line, and is searched for once per line", async () => {
  // 20 MB: trying every number of lines takes a minute, one look a line takes less than a second.
  const line = `1394163660,1,${"x".repeat(20_000)}`;
  const text = ["time,value,note", '1394163660,1,"open', ...Array.from({ length: 1000 }, () => line)].join("\n");
  const { readings, bad } = await readText(text, { chunkBytes: 1 << 16 });
  expect(bad).toEqual([{ lineNumber: 2, reason: "a quote is not closed" }]);
  expect(readings).toHaveLength(1000);
});

test("unbalanced quotes lose no other line", async () => {
  const text = ["time,value,note", '1394163660,1,"a', '1394163661,"2,"b', "1394163662,3,c", '"', "1394163663,4,d"];
  const { readings } = await readText(text.join("\n"), { format: "csv" });
  expect(readings.map(({ value }) => value)).toEqual(expect.arrayContaining([3, 4]));
});
