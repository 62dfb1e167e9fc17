import { expect, test } from "vitest";
import { Breaker, DelayQueue, Lock, recordHistory, Series } from "../../../src/entries/index.ts";
import { timingSeries } from "../../../src/operate/history/names.ts";
import { atEnd, oncePerFile } from "../../harness/ends.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";
import { holds, inChromium, openPage } from "../page.ts";
import { sceneOn, siteOf } from "../scene.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));

/** How many different colors a canvas has. An empty chart has the few of its axes. */
const COLORS = (chart: string) => `(() => {
  const canvas = document.querySelector(".timings .chart.${chart} canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size;
})()`;

/**
 * Whether the chart of the percentiles has a pixel in the color of one of its lines, or nearly so, for edges are smoothed.
 * Of few events, the largest value can hide the other percentiles.
 */
const HAS_LINE = `(() => {
  const dot = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
  const colors = ["--p50", "--p90", "--p99", "--max"].map((name) => {
    dot.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);
    dot.fillRect(0, 0, 1, 1);
    return dot.getImageData(0, 0, 1, 1).data;
  });
  const canvas = document.querySelector(".timings .chart.lines canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const isNear = (color, i) => data[i + 3] > 200 && [0, 1, 2].every((c) => Math.abs(data[i + c] - color[c]) < 24);
  for (let i = 0; i < data.length; i += 4) if (colors.some((color) => isNear(color, i))) return true;
  return false;
})()`;

inChromium((browser) => {
  test("the timings that recordHistory keeps of a queue are drawn", async () => {
    const { store, announced } = sceneOn((await redis()).url);
    const history = recordHistory(store);
    const queue = new DelayQueue<number>(store, "timed", { shards: 1 });
    let done = 0;
    const worker = queue.process(() => new Promise((resolve) => setTimeout(resolve, 3)));
    atEnd(() => worker.close());
    worker.on("completed", () => void done++);
    for (let i = 0; i < 40; i++) await queue.add(i);
    await until("all are done", () => done === 40);
    await history.close();
    await announced(1);
    const series = new Series(store, timingSeries("timed", "run"));
    const { percentiles, count } = await series.stats();
    await series.close();
    expect(count).toBe(40);
    const { url } = await siteOf(store);
    const { page, troubles } = await openPage(await browser());
    await page.goto(`${url}#/DelayQueue/timed`);
    await holds(page, `document.querySelector('.timings [data-name="count"]')?.title === "40"`);
    await page.click('.timings button:text-is("Run time")');
    await holds(page, `document.querySelector('.timings [data-name="p50"]')?.title === "${percentiles[50]}"`);
    expect(new URL(page.url()).hash).toContain("timing=run");
    for (const chart of ["lines", "heat", "rate"]) await holds(page, `${COLORS(chart)} > 4`);
    expect(await page.getAttribute(".timings .chart.rate .plot", "aria-label")).toContain("40 events");
    expect(await page.locator(".timings .notice:visible").count()).toBe(0);
    expect(troubles).toEqual([]);
    await holds(page, HAS_LINE); // also if all events are in one bucket, where no line can be drawn
  });

  test("the openings that recordHistory keeps of a breaker are listed with their causes", async () => {
    const { store, announced } = sceneOn((await redis()).url);
    const history = recordHistory(store);
    const breaker = new Breaker(store, { name: "opened", failures: 3, span: "1m", cooldown: "1h" });
    for (let i = 0; i < 3; i++) await breaker.run(() => Promise.reject(new Error("down"))).catch(() => {});
    await breaker.flush();
    await breaker.close();
    await breaker.open();
    await history.close();
    await announced(1);
    const { url } = await siteOf(store);
    const { page, troubles } = await openPage(await browser());
    await page.goto(`${url}#/Breaker/opened`);
    await holds(page, 'document.querySelectorAll(".card.openings tbody tr").length === 2');
    const cells = (row: number) =>
      page.locator(".card.openings tbody tr").nth(row).locator("td:not(:first-child)").allTextContents();
    expect(await cells(0)).toEqual(["opened by hand", "0", "0", "0"]);
    expect(await cells(1)).toEqual(["calls failed or were slow", "3", "3", "0"]);
    expect(troubles).toEqual([]);
  });

  test("the age of a lock is the time since it was taken", async () => {
    const { store, announced } = sceneOn((await redis()).url);
    const begunMs = performance.now();
    const hold = await new Lock(store, "aged").tryLock({ lease: "10m" });
    const takenMs = performance.now();
    expect(hold).not.toBe(null);
    await announced(1);
    const { url } = await siteOf(store);
    const { page, troubles } = await openPage(await browser());
    await page.goto(`${url}#/Lock/aged`);
    const held = '.facts [data-name="held"] dd';
    await holds(page, `/^[2-9]\\.\\d s$/.test(document.querySelector('${held}')?.textContent)`);
    const text = (await page.textContent(held))!;
    const shownMs = Number(/^(\d+\.\d) s$/.exec(text)![1]) * 1000;
    // The page asks every 2 s, so it may be late by that.
    expect(shownMs).toBeLessThan(performance.now() - begunMs + 100);
    expect(shownMs).toBeGreaterThan(performance.now() - takenMs - 3000);
    expect(await page.textContent('.facts [data-name="left"] dd')).toMatch(/^9 m 5\d s$/);
    expect(troubles).toEqual([]);
  });
});
