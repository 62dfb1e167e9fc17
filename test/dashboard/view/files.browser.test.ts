import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { DelayQueue, Limiter, recordHistory, slidingWindow } from "../../../src/entries/index.ts";
import type { Distribution, SeriesView } from "../../../src/operate/dashboard/protocol.ts";
import { atEnd, oncePerFile } from "../../harness/ends.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";
import { inChromium, openPage } from "../page.ts";
import { filledSeries, json, sceneOn, siteOf } from "../scene.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));

/** The file that a link of the page downloads. */
async function saved(page: Page, label: string): Promise<{ name: string; text: string }> {
  const link = page.locator(`a[aria-label="${label}"]`);
  await link.and(page.locator("[href]")).waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
}

async function savedJson<T>(page: Page, label: string): Promise<T> {
  return JSON.parse((await saved(page, label)).text) as T;
}

const csvRows = (text: string): string[][] =>
  text
    .trim()
    .split("\r\n")
    .map((line) => line.split(","));

inChromium((browser) => {
  test("the view of a series and both distributions are saved as they are shown", async () => {
    const { store, announced } = sceneOn((await redis()).url);
    const series = await filledSeries(store, "saved", 3000);
    await announced(1);
    const { to } = await series.stats({ percentiles: [] });
    const { url } = await siteOf(store);
    const { page, troubles } = await openPage(await browser());
    const [from, a] = [to - 200_000, `${to - 150_000}-${to - 100_000}`];
    const asked = page.waitForResponse((each) => each.url().includes("part=view"));
    await page.goto(`${url}#/Series/saved?window=${from}-${to - 20_000}&a=${a}`);
    const shown = await json<SeriesView>(fetch((await asked).url()));
    await page.waitForSelector(".halves tbody tr");
    expect(shown.whole.count).toBeGreaterThan(1000);
    expect(await savedJson(page, "Save the view as JSON")).toEqual(shown);
    const { name, text } = await saved(page, "Save the view as CSV");
    expect(name).toBe("view.csv");
    const [head, ...rows] = csvRows(text);
    expect(head).toEqual(["end", "count", "rate", "p50", "p90", "p99", "max"]);
    expect(rows.map(([end]) => Date.parse(end!))).toEqual(shown.endsMs);
    expect(rows.map(([, count]) => Number(count))).toEqual(shown.count);
    expect(rows.map((row) => (row[5] === "" ? null : Number(row[5])))).toEqual(shown.p99);

    expect(await page.locator('a[aria-label="Save the distribution of B as CSV"]').isVisible()).toBe(false);
    await page.click("text=Compare with the time before");
    await page.waitForSelector(".halves .tag.b");
    for (const [i, side] of (["A", "B"] as const).entries()) {
      const cell = (row: string) => page.locator(`.halves tr:has(th:text-is("${row}")) td`).nth(i);
      const whole = await savedJson<Distribution>(page, `Save the distribution of ${side} as JSON`);
      expect(await cell("p99").getAttribute("title")).toBe(String(whole.percentiles.find(({ p }) => p === 99)!.value));
      expect(await cell("events").getAttribute("title")).toBe(String(whole.window.count));
      const { text } = await saved(page, `Save the distribution of ${side} as CSV`);
      const [, ...percentiles] = csvRows(text);
      expect(percentiles.map((row) => row.map(Number))).toEqual(whole.percentiles.map(({ p, value }) => [p, value]));
    }
    expect(troubles).toEqual([]);
  });

  test("the calls of a limiter, its denied ids, and a queue's timings and dead letters are saved", async () => {
    const { store, announced } = sceneOn((await redis()).url);
    const history = recordHistory(store);
    const limiter = new Limiter(store, [slidingWindow({ name: "minute", limit: 3, span: "1m" })], { name: "saved" });
    for (let i = 0; i < 8; i++) await limiter.take("user");
    const queue = new DelayQueue<number>(store, "saved", { shards: 1, attempts: 1 });
    let ended = 0;
    const worker = queue.process(async ({ payload }) => {
      if (payload === 0) throw new Error("no such address");
    });
    atEnd(() => worker.close());
    worker.on("completed", () => void ended++);
    worker.on("dead", () => void ended++);
    for (let i = 0; i < 6; i++) await queue.add(i, { id: `mail ${i}` });
    await until("all have ended", () => ended === 6);
    await history.close();
    await announced(2);
    const { url } = await siteOf(store);
    const { page, troubles } = await openPage(await browser());
    await page.goto(`${url}#/Limiter/saved`);
    await page.waitForSelector(".outcomes canvas");
    const calls = await savedJson<{ outcomes: { outcome: string; total: number }[] }>(page, "Save the calls as JSON");
    expect(calls.outcomes.map(({ outcome, total }) => [outcome, total])).toEqual([
      ["allowed", 3],
      ["denied", 5],
    ]);
    const { name, text } = await saved(page, "Save the calls as CSV");
    expect([name, text.split("\r\n")[0]]).toEqual(["history.csv", "end,allowed minute /s,denied minute /s"]);
    expect(await savedJson(page, "Save the denied ids as JSON")).toMatchObject([{ id: "user", count: 5 }]);
    await page.goto(`${url}#/DelayQueue/saved?timing=run`);
    await page.waitForSelector(".timings .chart.heat canvas");
    const asked = page.waitForResponse((each) => each.url().includes("timing=run"));
    const view = await savedJson<SeriesView>(page, "Save the timings as JSON");
    expect(view.whole.count).toBe(5);
    expect(view.whole.p99).toBe(((await (await asked).json()) as SeriesView).whole.p99);
    expect(await savedJson(page, "Save the dead letters as JSON")).toMatchObject([
      { id: "mail 0", error: "Error: no such address" },
    ]);
    expect(troubles).toEqual([]);
  });
});
