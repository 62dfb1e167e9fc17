import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { htmlReport } from "../../bench/report/html.ts";
import type { Measured } from "../../bench/runner/report.ts";
import { inChromium, openPage, seriousFindings } from "../dashboard/page.ts";
import { root } from "../house/sources.ts";

const folder = mkdtempSync(join(tmpdir(), "oriel-report-"));
afterAll(() => rmSync(folder, { recursive: true }));

let html: string;
let run: Measured;
beforeAll(() => {
  const file = join(folder, "report.html");
  const benches = ["--only", "metrics", "--only", "memory"];
  const args = [
    "--import",
    "./bench/typescript.mjs",
    "bench/main.ts",
    "--small",
    ...benches,
    "--report",
    "--output",
    file,
  ];
  execFileSync(process.execPath, args, { cwd: root, stdio: "pipe" });
  html = readFileSync(file, "utf8");
  run = JSON.parse(decodeURIComponent(/href="data:application\/json,([^"]*)"/.exec(html)![1]!));
});

test("the report has the raw data, the machine, the rivals' versions and the commands", () => {
  expect(run.reports.map(({ bench }) => bench)).toEqual(["metrics", "memory"]);
  expect(run.facts.node).toBe(process.versions.node);
  expect(run.command).toContain("--only memory --report");
  const { dependencies } = JSON.parse(readFileSync(join(root, "bench", "package.json"), "utf8"));
  expect(run.rivals).toMatchObject(dependencies);
  for (const { bench, rows } of run.reports) {
    expect(rows.length).toBeGreaterThan(1);
    expect(html).toContain(`npm run bench -- --only ${bench}`);
  }
  for (const [name, version] of Object.entries(run.rivals)) expect(html).toContain(`${name}</th><td>${version}</td>`);
});

test("foreign text is text", () => {
  const evil = "<img src=x onerror=alert(1)>\"'&";
  const rows = [{ what: evil, ms: 1 }];
  const page = htmlReport({
    command: evil,
    facts: { [evil]: evil },
    rivals: {},
    reports: [{ bench: "b", title: evil, rows, notes: [evil] }],
  });
  expect(page).not.toContain("<img");
});

inChromium((browser) => {
  test("a browser shows a bar for each number, asks for nothing, and finds nothing serious", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const { page, troubles, requests } = await openPage(await browser(), { colorScheme });
      await page.goto(`file://${join(folder, "report.html")}`);
      const numbers = run.reports.flatMap(({ rows }) =>
        rows.flatMap(({ checksum: _, ...row }) => Object.values(row).filter((each) => typeof each === "number")),
      );
      expect(await page.locator("svg rect").count()).toBeGreaterThan(numbers.length / 2);
      expect(requests.filter((request) => !/^(file|data):/.test(request))).toEqual([]);
      expect(troubles).toEqual([]);
      expect(await seriousFindings(page)).toEqual([]);
    }
  });
});
