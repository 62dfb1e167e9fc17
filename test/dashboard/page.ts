import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, chromium, type Page } from "playwright-core";
import { describe, test } from "vitest";
import { findChromium } from "../../scripts/find-programs.mjs";
import { atEnd, oncePerFile } from "../harness/ends.ts";
import { until } from "../harness/until.ts";

/** Tests in a browser. A missing one is reported. */
export function inChromium(tests: (browser: () => Promise<Browser>) => void): void {
  const executablePath = findChromium();
  if (!executablePath) {
    describe("Chromium", () =>
      test.skip("not run: none found (ORIEL_CHROMIUM, PATH) nor unpacked by npm run test:all"));
    return;
  }
  const launch = oncePerFile(async () => {
    const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
    return { browser, stop: () => browser.close() };
  });
  describe("Chromium", () => tests(async () => (await launch()).browser));
}

export interface Watched {
  readonly page: Page;
  /** Messages of level error or warning, and exceptions. */
  readonly troubles: string[];
  readonly requests: string[];
}

/** A page that keeps what went wrong in it, and what it asked for. */
export async function openPage(browser: Browser, settings: Parameters<Browser["newPage"]>[0] = {}): Promise<Watched> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...settings });
  page.setDefaultTimeout(240_000);
  atEnd(() => page.close());
  const troubles: string[] = [];
  const requests: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) troubles.push(message.text());
  });
  page.on("pageerror", (error) => troubles.push(String(error)));
  page.on("request", (request) => requests.push(request.url()));
  return { page, troubles, requests };
}

/** Texts of what the accessibility checker finds serious or critical. */
export async function seriousFindings(page: Page): Promise<string[]> {
  // Not as an element of the page, whose policy forbids it.
  if (!(await page.evaluate<boolean>("'axe' in window"))) {
    const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    await page.evaluate(source);
  }
  const { violations } = await page.evaluate<{
    violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
  }>("axe.run({ resultTypes: ['violations'] })");
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map((node) => `${node.html.slice(0, 200)} ${node.failureSummary}`).join("; ")}`,
    );
}

/** Waits until an expression holds in the page. Its policy lets no page evaluate a text again by itself. */
export async function holds(page: Page, expression: string): Promise<void> {
  await until(expression, () => page.evaluate<boolean>(expression));
}
