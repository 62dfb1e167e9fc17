import { expect, test } from "vitest";
import { recogniseFormat } from "../../../src/command/formats/recognise.ts";
import { readText } from "./outcomes.ts";

const LOG = '1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 5 "-" "-"';

test.each([
  ["csv", ["timestamp,value", "1,2"]],
  ["csv", []],
  ["csv", ["{not json"]],
  ["ndjson", ['{"a":1}']],
  ["ndjson", ["broken", '{"a":1}', '{"b":1}']],
  ["log", [LOG]],
  ["log", ["garbage first", LOG, LOG]],
])("%s", (format, lines) => {
  expect(recogniseFormat(lines)).toBe(format);
});

test("of a format given by name at least one line must be read, and the others are bad lines", async () => {
  const line = '{"time":1394163660000,"value":1}';
  const { readings, bad } = await readText(`${LOG}\n${line}\n`, { format: "log" });
  expect(readings).toHaveLength(1);
  expect(bad).toEqual([{ lineNumber: 2, reason: "it is not a line of an access log" }]);
  await expect(readText(`${line}\n`, { format: "log" })).rejects.toThrow("it is not a line of an access log");
});
