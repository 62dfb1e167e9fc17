import pc from "picocolors";
import { expect, test } from "vitest";
import { reportText } from "../../src/command/doctor/report-text.ts";
import type { Report } from "../../src/operate/doctor/examine.ts";

const report: Report = {
  address: "a-very-long-host-name.of-some-region.example.com:6379",
  server: { product: "Redis", version: "7.4.1", redisVersion: "7.4.1" },
  mode: "single",
  verdict: "degraded",
  checks: [
    { name: "version", verdict: "good", text: "Redis 7.4.1" },
    {
      name: "eviction",
      verdict: "degraded",
      text: "maxmemory-policy is allkeys-lru: Redis may evict keys, and with them events, locks, permits, counts and messages; it should be noeviction",
      advice: "CONFIG SET maxmemory-policy noeviction, also in the configuration file.",
    },
    { name: "steps", verdict: "unknown", text: `\x1b[31mred\n${"x".repeat(200)}` },
  ],
};
const plain = pc.createColors(false);

test("a pipe gets one line for each check, without colours", () => {
  const lines = reportText(report, undefined, plain).split("\n");
  expect(lines).toHaveLength(6);
  expect(lines[2]).toMatch(/^degraded {2}eviction {5}maxmemory-policy is .* noeviction -> CONFIG SET .*\.$/);
  expect(lines[3]).toContain("\\x1b[31mred\\x0ax");
  expect(lines.slice(-2)).toEqual([
    "degraded: oriel works here, with the losses above; 1 check could not be made (steps)",
    "",
  ]);
});

test.each([1, 20, 40, 72, 80, 120])(
  "no line is longer than a terminal of %d columns, and no word is lost",
  (columns) => {
    const text = reportText(report, columns, plain);
    for (const line of text.split("\n")) expect(line.length, line).toBeLessThanOrEqual(Math.max(columns, 20));
    const squeezed = (all: string) => all.replace(/\s+/g, "");
    expect(squeezed(text)).toBe(squeezed(reportText(report, undefined, plain)));
    expect(text).toMatch(columns < 72 ? /^degraded {2}eviction\n {2}\S/m : /^degraded {2}eviction {5}maxmemory/m);
  },
);

test("a terminal gets colours of the verdicts", () => {
  const text = reportText(report, 80, pc.createColors(true));
  expect(text).toContain("\x1b[33mdegraded  \x1b[39meviction");
  expect(text).toContain("\x1b[32mgood");
});
