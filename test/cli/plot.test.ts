import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { command } from "./command.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "oriel-plot-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function plot(keys: readonly string[], options: readonly string[] = []): Promise<string> {
  const file = join(folder, "out.svg");
  const lines = keys.flatMap((key, k) =>
    [0, 1, 2, 7].map((minute) => JSON.stringify({ time: 1394163660000 + minute * 60_000, value: k + minute + 1, key })),
  );
  const byTime = lines.sort((a, b) => Number(a.slice(8, 21)) - Number(b.slice(8, 21)));
  const args = ["replay", "-", "--span", "1m", "--plot", file, "--unit", "ms", "--name", "<probe>", ...options];
  const ended = await command(keys.length > 1 ? [...args, "--key", "key"] : args, byTime.join("\n"));
  expect(ended.status, ended.stderr).toBe(0);
  return readFileSync(file, "utf8");
}

/** Every tag is closed by its own, attributes are quoted, nothing raw is left: enough of XML for what we write. */
function expectWellFormed(svg: string): void {
  const open: string[] = [];
  const tag = /<(\/?)([a-z]+)((?:\s+[a-zA-Z0-9-]+="[^"<&]*(?:&#\d+;[^"<&]*)*")*)\s*(\/?)>/g;
  const rest = svg.replace(tag, (_, closing, name, _attributes, self) => {
    if (closing) expect(open.pop()).toBe(name);
    else if (!self) open.push(name);
    return "";
  });
  expect(open).toEqual([]);
  expect(rest.replace(/&#\d+;/g, "")).not.toMatch(/[<>&]/);
}

test("one series: title, axes with the unit, a legend, a coloured path per line, and a break over the gap", async () => {
  const svg = await plot(["only"], ["--percentiles", "50,99"]);
  expectWellFormed(svg);
  expect(svg).toContain("&#60;probe&#62;: value");
  expect(svg).toContain("value (ms)");
  expect(svg).toContain("end of the window (UTC)");
  const paths = [...svg.matchAll(/data-name="([^"]+)" stroke="(#[0-9a-f]{6})" d="([^"]+)"/g)];
  expect(paths.map(([, name]) => name).sort()).toEqual(["mean", "p50", "p99"]);
  expect(new Set(paths.map(([, , color]) => color)).size).toBe(3);
  for (const [, name, , path] of paths) expect(path?.match(/M/g)?.length, name).toBe(2);
  for (const name of ["mean", "p50", "p99"]) expect(svg).toContain(`y="72">${name}</text>`);
  expect(svg).not.toContain("NaN");
});

test("one panel per key, at most twelve; hostile names do no harm", async () => {
  const two = await plot(["a", '"><script>\u0000']);
  expectWellFormed(two);
  expect(two.match(/class="panel"/g)?.length).toBe(2);
  expect(two).not.toContain("<script>");
  const many = await plot(Array.from({ length: 15 }, (_, i) => `key ${i}`));
  expectWellFormed(many);
  expect(many.match(/class="panel"/g)?.length).toBe(12);
  expect(many).toContain("3 or more keys");
});

test("without events there is still a picture", async () => {
  const svg = await plot([]);
  expectWellFormed(svg);
  expect(svg).toContain("no events");
});
