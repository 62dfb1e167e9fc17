import { expect, test } from "vitest";
import { recogniseFormat } from "../../../src/cli/formats/recognise.ts";
import { readText } from "./outcomes.ts";

const LOG = '1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 5 "-" "-"';

test.each([
  ["csv", ["timestamp,value", "1,2"]],
  ["csv", []],
  ["csv", ["{not json"]],
  ["ndjson", ['{"a":1}']],
  ["ndjson", ["broken", '{"a":1}']],
  ["log", [LOG]],
  ["log", ["garbage first", LOG]],
])("%s", (format, lines) => {
  expect(recogniseFormat(lines)).toBe(format);
});

test("a format given by name is used without a check", async () => {
  const { readings, bad } = await readText('{"time":1394163660000,"value":1}\n', { format: "log" });
  expect(readings).toEqual([]);
  expect(bad).toEqual([{ lineNumber: 1, reason: "it is not a line of an access log" }]);
});
