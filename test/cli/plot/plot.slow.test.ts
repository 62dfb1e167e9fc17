import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { inflateSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Reading } from "../../../src/command/formats/reading.ts";
import { formatValue, unitNamed } from "../../../src/command/plot/axes/units.ts";
import { runCommand } from "../../../src/command/program.ts";
import { bruteForceReplay, type ExpectedRow } from "../brute-force.ts";
import { command } from "../command.ts";
import { expectReadable, expectWellFormed, pathPoints } from "./svg.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "oriel-plot-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const START_MS = 1394163660000;
const LAW = { spanMs: 60_000, everyMs: 30_000, latenessMs: 0, closed: "right", percentiles: [50, 90, 99] } as const;

/** Ten values a minute for forty minutes, with one gap of five. */
const readings: Reading[] = Array.from({ length: 400 }, (_, i) => ({
  lineNumber: i + 2,
  atMs: START_MS + i * 6000 + (i >= 200 ? 300_000 : 0),
  value: 20 + ((i * 7919) % 101) / 2 + (i % 50 === 0 ? 300 : 0),
  key: null,
}));
const csv = `time,wait_ms\n${readings.map(({ atMs, value }) => `${atMs},${value}`).join("\n")}\n`;

async function plot(
  name: string,
  options: readonly string[] = [],
  input = csv,
): Promise<{ file: string; stderr: string }> {
  const file = join(folder, name);
  const args = ["replay", "-", "--span", "1m", "--every", "30s", "--plot", file, "--name", "<probe>", ...options];
  const ended = await command(args, input);
  expect(ended.status, ended.stderr).toBe(0);
  return { file, stderr: ended.stderr };
}

interface Scale {
  valueOf(y: number): number;
}

/** The scale of a linear axis, from its first and last labels. */
function scaleOf(labels: { y: number; value: number }[]): Scale {
  const [first, last] = [labels[0], labels.at(-1)] as [{ y: number; value: number }, { y: number; value: number }];
  return { valueOf: (y) => first.value + ((y - first.y) / (last.y - first.y)) * (last.value - first.value) };
}

function tickLabels(svg: string): { y: number; value: number }[] {
  const ticks = [...svg.matchAll(/class="quiet tick" x="[\d.]+" y="([\d.]+)"[^>]*>([\d.]+)[^<]*</g)];
  return ticks.map(([, y, text]) => ({ y: Number(y), value: Number(text) }));
}

test("the drawn lines and bars are the numbers of brute force; lines break at the gap", async () => {
  const { file } = await plot("numbers.svg", ["--scale", "linear"]);
  const svg = readFileSync(file, "utf8");
  expectWellFormed(svg);
  expectReadable(svg);
  const { rows } = bruteForceReplay(readings, LAW);
  expect(rows.length).toBeGreaterThan(80);
  const ticks = tickLabels(svg);
  const zeroes = ticks.flatMap(({ value }, i) => (value === 0 ? [i] : []));
  expect(zeroes.length).toBe(2);
  const values = scaleOf(ticks.slice(zeroes[0], zeroes[1]));
  const counts = scaleOf(ticks.slice(zeroes[1]));
  const perPx = Math.abs(values.valueOf(0) - values.valueOf(1));

  const lines: [name: string, pick: (row: ExpectedRow) => number][] = [
    ["mean", ({ mean }) => mean],
    ...LAW.percentiles.map((p, i): [string, (row: ExpectedRow) => number] => [`p${p}`, (row) => row.percentiles[i]!]),
  ];
  for (const [name, pick] of lines) {
    const points = pathPoints(svg, name);
    expect(points.length, name).toBe(rows.length);
    for (const [i, [, y]] of points.entries())
      expect(Math.abs(values.valueOf(y) - pick(rows[i]!)), `${name} ${i}`).toBeLessThan(perPx * 0.2);
    const path = new RegExp(`data-name="${name}" d="([^"]+)"`).exec(svg)?.[1];
    expect(path?.match(/M/g)?.length, name).toBe(2);
  }
  const bars = [...svg.matchAll(/class="bars" d="([^"]+)"/g)][0]?.[1] ?? "";
  const heights = [...bars.matchAll(/V([\d.]+)H/g)].map(([, y]) => counts.valueOf(Number(y)));
  expect(heights.length).toBe(rows.length);
  for (const [i, height] of heights.entries()) expect(Math.abs(height - rows[i]!.count), `bar ${i}`).toBeLessThan(0.2);
});

test(".html has the numbers of each window twice, for wide and narrow windows, and asks for nothing outside", async () => {
  const { file } = await plot("page.html");
  const page = readFileSync(file, "utf8");
  const { rows } = bruteForceReplay(readings, LAW);
  const shown = [...page.matchAll(/<g class="window">.*?<\/g><\/g>/gs)].map(([whole]) =>
    [...whole.matchAll(/<text [^>]*>([^<]*)</g)].map(([, text]) => text).join(" · "),
  );
  const ms = unitNamed("ms");
  const wanted = rows.map(({ endMs, count, mean, percentiles }) => {
    const named = LAW.percentiles.map((p, i) => `p${p} ${formatValue(percentiles[i]!, ms, 4)}`);
    const end = new Date(endMs).toISOString().replace(".000Z", "Z");
    return [end, `events ${count}`, ...named, `mean ${formatValue(mean, ms, 4)}`].join(" · ");
  });
  expect(shown).toEqual([...wanted, ...wanted]);
  expect(page).not.toMatch(/<script|<link|<img|\b(?:src|href|url)\s*[=(]/);
  expect(page).toContain("prefers-color-scheme: dark");
  expect(page.match(/<title/g)?.length).toBe(3);
  expect(page.match(/<desc id="(wide|narrow)-desc">[^<]{40,}</g)?.length).toBe(2);
});

/** Width, height and the number of different colours of a PNG with 8 bits for each of R, G, B and A. */
function decodePng(png: Buffer): { width: number; height: number; colorCount: number } {
  expect(png.subarray(0, 8).toString("hex")).toBe("89504e470d0a1a0a");
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    if (png.toString("latin1", at + 4, at + 8) === "IDAT") parts.push(png.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const bytes = inflateSync(Buffer.concat(parts));
  const colors = new Set<string>();
  const before = Buffer.alloc(width * 4);
  for (let y = 0; y < height; y++) {
    const filter = bytes[y * (width * 4 + 1)] as number;
    const line = bytes.subarray(y * (width * 4 + 1) + 1, (y + 1) * (width * 4 + 1));
    for (let x = 0; x < line.length; x++) {
      const [left, up, corner] = [x < 4 ? 0 : line[x - 4]!, before[x]!, x < 4 ? 0 : before[x - 4]!];
      const near = [left, up, corner].map((each) => Math.abs(left + up - corner - each)) as [number, number, number];
      const paeth = near[0] <= near[1] && near[0] <= near[2] ? left : near[1] <= near[2] ? up : corner;
      line[x] = line[x]! + [0, left, up, (left + up) >> 1, paeth][filter]!;
      if (x % 4 === 3) colors.add(line.toString("hex", x - 3, x + 1));
    }
    line.copy(before);
  }
  return { width, height, colorCount: colors.size };
}

test.each([360, 1200])(
  ".png of %d pixels: that wide, not blank, with the paper, both colours of lines and bars",
  async (width) => {
    const png = readFileSync((await plot("out.png", ["--width", `${width}`])).file);
    const decoded = decodePng(png);
    expect(decoded.width).toBe(width);
    expect(decoded.height).toBeGreaterThan(300);
    expect(decoded.colorCount).toBeGreaterThan(50);
  },
);

test("guesses are named in the output and in the picture; --unit and --value replace them", async () => {
  const guessed = await plot("guessed.svg");
  expect(guessed.stderr).toContain(
    "; guessed: value wait_ms, the only other column (--value takes another); unit ms, by its name\n",
  );
  expect(readFileSync(guessed.file, "utf8")).toMatch(/100 ms<.*/s);
  const rows = csv.replace("time,wait_ms", "time,host,wait").replaceAll(/\n(\d+),/g, "\n$1,web-1,");
  const byType = await plot("type.svg", [], rows);
  expect(byType.stderr).toContain("; guessed: value wait, the only column of numbers (--value takes another)\n");
  expect(readFileSync(byType.file, "utf8")).toContain("value wait, the only column of numbers");
  const asked = await plot("asked.svg", ["--unit", "requests", "--value", "wait"], rows);
  expect(asked.stderr).not.toContain("guessed");
  expect(readFileSync(asked.file, "utf8")).toContain(">wait (requests)<");
});

test("one panel per key, at most twelve, each with its events", async () => {
  const lines = Array.from({ length: 15 }, (_, k) =>
    [0, 1, 2].map((minute) =>
      JSON.stringify({ time: START_MS + minute * 60_000, value: k + minute + 1, key: `key ${k}` }),
    ),
  );
  const byTime = [0, 1, 2].flatMap((minute) => lines.map((of) => of[minute]));
  const svg = readFileSync((await plot("many.svg", ["--key", "key"], byTime.join("\n"))).file, "utf8");
  expectWellFormed(svg);
  expectReadable(svg);
  expect(svg.match(/class="panel"/g)?.length).toBe(12);
  expect(svg.match(/>events per window</g)?.length).toBe(12);
  expect(svg).toContain("3 or more keys");
});

test("a reader of the rows that leaves does not cut the picture", async () => {
  const { file } = await plot("whole.svg");
  const whole = readFileSync(file, "utf8");
  const stdout = new PassThrough();
  stdout.once("data", () => stdout.destroy());
  const args = ["replay", "-", "--span", "1m", "--every", "30s", "--plot", file, "--name", "<probe>"];
  expect(await runCommand(args, { stdin: Readable.from([Buffer.from(csv)]), stdout, stderr: new PassThrough() })).toBe(
    0,
  );
  expect(readFileSync(file, "utf8")).toBe(whole);
});
