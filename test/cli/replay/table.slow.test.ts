import { stripVTControlCharacters } from "node:util";
import stringWidth from "string-width";
import { expect, test } from "vitest";
import { command } from "../command.ts";

const EVENTS = Array.from(
  { length: 400 },
  (_, i) => `${1394163600 + i},${(i % 97) * 1234.5678},/a/long/path/表${i % 3}`,
);
const INPUT = `time,value,path\n${EVENTS.join("\n")}\n`;

async function table(columns: number | undefined, ...args: string[]): Promise<string[]> {
  const terminal = columns === undefined ? {} : { isTTY: true, columns };
  const { status, stdout } = await command(["replay", "-", "--span", "1m", ...args], INPUT, terminal);
  expect(status).toBe(0);
  return stripVTControlCharacters(stdout).trimEnd().split("\n");
}

test.each([40, 60, 80, 120])("the table fits into %i columns, with and without keys", async (columns) => {
  for (const args of [[], ["--key", "path"], ["--percentiles", "1,5,25,50,75,95,99,99.9"]]) {
    const lines = await table(columns, "--value", "value", ...args);
    for (const line of lines) expect(stringWidth(line), line).toBeLessThanOrEqual(columns);
    expect(lines[0]).toMatch(/^window end +(key +)?.*p\d/);
    expect(lines.length).toBeGreaterThan(7);
  }
});

test("a pipe has every column, and a narrow terminal those that say most", async () => {
  const [wide] = await table(undefined, "--value", "value");
  expect(wide!.split(/ {2,}/)).toEqual([
    "window end",
    "count",
    "sum",
    "mean",
    "min",
    "max",
    "std",
    "p50",
    "p90",
    "p99",
  ]);
  const [medium] = await table(80, "--value", "value");
  expect(medium!.split(/ {2,}/)).toEqual(["window end", "count", "mean", "min", "max", "p50", "p90", "p99"]);
  const [narrow] = await table(40, "--value", "value");
  expect(narrow!.split(/ {2,}/)).toEqual(["window end", "count", "p99"]);
});

test("wider numbers that come later cost a column, and the names are printed anew", async () => {
  const input = `time,value\n1394163600,1\n1394163661,${1e15}\n`;
  const { stdout } = await command(["replay", "-", "--span", "1m"], input, { isTTY: true, columns: 90 });
  const lines = stripVTControlCharacters(stdout).trimEnd().split("\n");
  const heads = lines.filter((line) => line.startsWith("window end"));
  expect(heads).toHaveLength(2);
  expect(heads[0]).toContain("mean");
  expect(heads[1]).not.toContain("mean");
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(90);
});
