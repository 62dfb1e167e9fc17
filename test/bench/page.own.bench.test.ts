import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { runLines, runOf } from "../../bench/report/lines.ts";
import { BLOCK, filled, plot } from "../../bench/report/page.ts";
import { PAGES, RESULT } from "../../bench/report/pages.ts";
import { VIEWS } from "../../bench/report/views.ts";
import type { Measured, Row } from "../../bench/runner/report.ts";
import { SCALE_TABLES } from "../../bench/scale/tables.ts";

const pages = PAGES.map((path) => ({ path, text: readFileSync(path, "utf8") }));
const run: Measured = {
  command: "npm run bench -- --report",
  facts: { cpu: "a CPU", cores: 2, node: "20.1.0", kernel: "wasm-simd" },
  rivals: { bullmq: "6.7.0" },
  reports: [
    {
      bench: "windows",
      title: "Windows",
      rows: [
        { events: 1000, callers: 1, rival: "V1 pipelined", opsPerSecond: 1234.56789, checksum: 7 },
        { events: 1000, callers: 1, rival: "oriel", opsPerSecond: 2000 },
        { events: 1_000_000, callers: 1000, rival: "oriel", opsPerSecond: 3_000_000 },
      ],
      notes: ["a note"],
    },
    { bench: "memory", title: "Memory", rows: [{ layout: "oriel", bytesPerEvent: Number.NaN }], notes: [] },
  ],
};

test("each block of a page has a view, and each view a block", () => {
  const names = pages.flatMap(({ text }) => [...text.matchAll(BLOCK)].map(([, , name]) => name));
  expect(names.sort()).toEqual(
    [...Object.keys(VIEWS), ...Object.keys(SCALE_TABLES), "machine", "first-numbers"].sort(),
  );
});

test("each column of a table of a page has a heading", () => {
  const heads = pages.flatMap(({ text }) => [...text.matchAll(/^(\|.*\|)\n\|[-|]+\|$/gm)].map(([, head]) => head!));
  expect(heads.length).toBeGreaterThan(Object.keys(VIEWS).length);
  expect(heads.filter((head) => /\|\s*\|/.test(head))).toEqual([]);
});

test("a run is kept as JSON lines, rounded and without checksums", () => {
  const [windows, memory] = run.reports as [Measured["reports"][0], Measured["reports"][0]];
  const [first, ...others] = windows.rows;
  const { checksum: _, ...kept } = first!;
  expect(runOf(runLines(run))).toEqual({
    ...run,
    reports: [
      { ...windows, rows: [{ ...kept, opsPerSecond: 1235 }, ...others] },
      { ...memory, rows: [{ layout: "oriel" }] },
    ],
  });
});

test("a block is written from the run, with a column for each rival, and stays if the run lacks its bench", () => {
  const page = `# Page
<!-- bench windows -->
old
<!-- end -->
<!-- bench lock -->
old
<!-- end -->
`;
  const text = filled(page, run);
  expect(text).toBe(`# Page
<!-- bench windows -->

| events in the window | callers | oriel | sorted set, pipelined |
|---|---|---|---|
| 1,000 | 1 | 2,000 | 1,235 |
| 1,000,000 | 1,000 | 3,000,000 |  |

<!-- end -->
<!-- bench lock -->
old
<!-- end -->
`);
  expect(filled(text, run)).toBe(text);
});

test("the machine and the versions of the rivals are written", () => {
  const text = filled("<!-- bench machine -->\n<!-- end -->", run);
  for (const part of ["a CPU, 2 cores", "node 20.1.0", "bullmq 6.7.0"]) expect(text).toContain(part);
});

test("README.md has the best sorted set, both loads of the limiter, and a free lock", () => {
  const report = (bench: string, rows: Row[]) => ({ bench, title: bench, rows, notes: [] });
  const at = { events: 1_000_000, callers: 1000 };
  const exact = { limiter: "oriel exact sliding window" };
  const text = filled("<!-- bench first-numbers -->\n<!-- end -->", {
    ...run,
    reports: [
      report("windows", [
        { ...at, rival: "V1 sorted set", opsPerSecond: 20_000 },
        { ...at, rival: "V1 pipelined", opsPerSecond: 30_000 },
        { ...at, rival: "oriel", opsPerSecond: 160_000 },
      ]),
      report("limiters", [
        { ...exact, load: "10,000 ids, all admitted", timesFaster: 2.06 },
        { ...exact, load: "10,000 ids, half denied", timesFaster: 1.84 },
        { ...exact, load: "one id, all admitted", timesFaster: 5 },
      ]),
      report("lock", [
        { load: "1 × 1", lock: "redis-semaphore", timesSlower: 0.712 },
        { load: "1 × 50", lock: "redis-semaphore", timesSlower: 1.1 },
      ]),
    ],
  });
  for (const part of ["160,000 a second", "counts: 30,000", "1.8 to 2.1 times", "0.71 times"])
    expect(text).toContain(part);
});

test("a plot shows the rows of its view, and no plot those of a bench that was not run", () => {
  expect(plot("windows", run).match(/<rect/g)).toHaveLength(1);
  const rows = [1, 2].map((batch) => ({ batch, rankError: 0, ms: batch }));
  const cold = plot("cold", { ...run, reports: [{ bench: "cold", title: "Cold", rows, notes: [] }] });
  expect(cold).toContain(">2 batch<");
  expect(plot("lock", run)).toBe("");
});

describe.runIf(existsSync(RESULT))("the pages", () => {
  const result = () => runOf(readFileSync(RESULT, "utf8"));

  test.each(pages)("$path has the numbers of the run (npm run docs:numbers)", ({ text }) => {
    expect(filled(text, result())).toBe(text);
  });

  test("the run has all benches that the pages show, in full sizes", () => {
    const { command, reports } = result();
    expect(command).not.toContain("--small");
    const measured = reports.filter(({ rows }) => rows.length > 0).map(({ bench }) => bench);
    expect(Object.values(VIEWS).filter(({ bench }) => !measured.includes(bench))).toEqual([]);
  });

  test("oriel is slower where the page says so", () => {
    const { reports } = result();
    const rowsOf = (wanted: string) => reports.filter(({ bench }) => bench === wanted).flatMap(({ rows }) => rows);
    const faster = [
      ...rowsOf("windows").filter(({ callers, rival }) => callers === 1 && rival === "V1 pipelined"),
      ...rowsOf("lock").filter(({ load, lock }) => load === "1 × 1" && lock === "redis-semaphore"),
      // Processes of a lock of several servers have no order in either.
      ...rowsOf("semaphore").filter(
        ({ lock, kind, load }) => lock === "redis-semaphore" && (kind === "semaphore" || load === "1 × 1"),
      ),
    ];
    expect(faster.length).toBeGreaterThan(4);
    for (const row of faster) expect(row.timesSlower, JSON.stringify(row)).toBeLessThan(1);
  });
});
