// Measured numbers stand on a page only between the marks that the report command fills (bench/report/page.ts).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../house/sources.ts";
import { pages } from "./blocks.ts";

/** Ratios, rates and durations that only a measurement gives. */
const MEASURED = [
  /\bMeasured (on|over|with)\b/,
  /(?<!rounded to )\b\d[\d.,]* ?(ns|µs)(?!\p{L})/u,
  /\b\d[\d.,]*( to \d[\d.,]*)? times (as (fast|many|long|much)|slower|faster|less|more|an?|pipelined)\b/,
  /\d[\d ,.]*( to \d[\d ,.]*)? (million |M )?(answers|decisions|rows|pairs|operations) (a|per) second\b/,
  /\d (million|M) events (a|per) second\b/,
  /\b(takes?|adds?) ((about|up to|at most) )*\d[\d.,]* ms\b/,
  /\bof about \d[\d.,]* ms\b/,
  /\b\d[\d.,]* ms late\b|\blate in the median\b/,
  /\b\d[\d.,]* (bytes|B|kB|MB)\b[^.|]*, against \d/,
];

/** A page without its blocks of code and the parts that the report command writes. */
function written(text: string): string {
  const blank = (part: string) => part.replace(/[^\n]/g, "");
  return text.replace(/^<!-- bench [\s\S]*?^<!-- end -->/gm, blank).replace(/^```[\s\S]*?^```/gm, blank);
}

test("no page has a measured number that the report command did not write", () => {
  const found = pages().flatMap((page) =>
    written(readFileSync(join(root, page), "utf8"))
      .split("\n")
      .flatMap((line, i) => (MEASURED.some((each) => each.test(line)) ? [`${page}:${i + 1} ${line}`] : [])),
  );
  expect(found).toEqual([]);
});

test.each([
  "Adding is 2.2 to 3.9 times as fast.",
  "A closed call takes 0.4 µs.",
  "It gave 90 800 answers a second.",
  "Measured with 1000 callers:",
  "`record` reaches 17 M events a second.",
  "A query takes at most about 15 ms.",
  "`oriel` adds 64 ms to the start.",
  "BullMQ's were 47 and 94 ms late.",
  "A waiting message takes 304 bytes, against 783.",
])("finds %s", (line) => {
  expect(MEASURED.some((each) => each.test(written(line)))).toBe(true);
  expect(written(`<!-- bench lock -->\n${line}\n<!-- end -->`)).not.toContain(line);
});
