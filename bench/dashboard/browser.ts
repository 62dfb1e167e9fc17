import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { findChromium } from "../../scripts/find-programs.mjs";
import type { Row } from "../runner/report.ts";

/** The parts of Playwright that the bench uses. */
interface Page {
  goto(url: string): Promise<unknown>;
  waitForSelector(selector: string): Promise<unknown>;
  waitForTimeout(ms: number): Promise<void>;
  evaluate<T>(code: string): Promise<T>;
  close(): Promise<void>;
}
interface Playwright {
  chromium: {
    launch(options: {
      executablePath: string;
      args: string[];
    }): Promise<{ newPage(): Promise<Page>; close(): Promise<void> }>;
  };
}

/**
 * Scrolls to the end, a little in each frame, and returns the time that 95 % of the frames took at most: from the start of
 * the frame until its script, style, layout and paint are done. The pause until the next frame does not count.
 */
const SCROLL = `(async () => {
  const viewport = document.querySelector(".viewport");
  const durations = [];
  while (viewport.scrollTop + viewport.clientHeight < viewport.scrollHeight - 1) {
    viewport.scrollTop += 120;
    const startMs = await new Promise(requestAnimationFrame);
    const { port1, port2 } = new MessageChannel();
    await new Promise((resolve) => {
      port1.onmessage = resolve;
      port2.postMessage(0);
    });
    durations.push(performance.now() - startMs);
  }
  return durations.sort((a, b) => a - b)[Math.floor(durations.length * 0.95)] ?? 0;
})()`;

/** When the first chart has its lines, since the start of the navigation. */
const FIRST_CHART = `new Promise((resolve) => {
  const look = () => document.querySelector(".facts dd") && document.querySelector(".plot canvas")
    ? resolve(performance.now()) : requestAnimationFrame(look);
  look();
})`;

/** Empty without Chromium or Playwright (`npm test` installs both). */
export async function browserRows(url: string, structures: number): Promise<Row[]> {
  const folder = new URL("../../test/dashboard/package.json", import.meta.url);
  const executablePath = findChromium();
  if (!executablePath || !existsSync(new URL("node_modules/playwright-core", folder))) return [];
  const { chromium } = createRequire(folder)("playwright-core") as Playwright;
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage();
    await page.goto(url);
    await page.waitForSelector(".space .row");
    await page.waitForTimeout(1000);
    const framesMs = Math.min(await page.evaluate<number>(SCROLL), await scrolledAgain(page));
    await page.close();
    const charts: number[] = [];
    for (let i = 0; i < 3; i++) {
      const view = await browser.newPage();
      await view.goto(`${url}#/Series/bench%3A0`);
      charts.push(await view.evaluate<number>(FIRST_CHART));
      await view.close();
    }
    return [
      { what: `frames of a scroll over ${structures} series, p95`, eventsPerSecond: "", share: "", ms: framesMs },
      { what: "first chart of a series", eventsPerSecond: "", share: "", ms: Math.min(...charts) },
    ];
  } finally {
    await browser.close();
  }
}

async function scrolledAgain(page: Page): Promise<number> {
  await page.evaluate("document.querySelector('.viewport').scrollTop = 0");
  await page.waitForTimeout(500);
  return page.evaluate<number>(SCROLL);
}
