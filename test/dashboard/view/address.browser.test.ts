import { expect, test } from "vitest";
import { Lock, Series } from "../../../src/entries/index.ts";
import { readRegistry } from "../../../src/store/registry/read-registry.ts";
import { oncePerFile } from "../../harness/ends.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { holds, inChromium, openPage } from "../page.ts";
import { filledSeries, sceneOn, siteOf } from "../scene.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));

/** The names of the rows on the screen, from top to bottom. */
const NAMES = `[...document.querySelectorAll(".space .row:not([hidden])")]
  .sort((a, b) => a.getAttribute("aria-rowindex") - b.getAttribute("aria-rowindex"))
  .map((row) => row.querySelector("a").textContent)`;

/** How many pixels of a chart have the color of a mark in the light theme. */
const MARKED = `(() => {
  const canvas = document.querySelector(".chart.lines canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4)
    if (data[i] === 0x6b && data[i + 1] === 0x4f && data[i + 2] === 0xa0 && data[i + 3] === 255) count++;
  return count;
})()`;

inChromium((browser) => {
  test("a sort by a column puts the largest of all rows first, beyond those on the screen, and survives a reload", async () => {
    const { store, announced } = sceneOn((await redis()).url);
    const count = 60;
    for (let i = 0; i < count; i++) {
      const series = new Series(store, `sorted ${i}`);
      const values = Array.from({ length: ((i * 37) % count) + 1 }, () => i + 1);
      await series.recordMany(values);
      await series.close();
    }
    await announced(count);
    const { url } = await siteOf(store);
    const { page, troubles } = await openPage(await browser(), { viewport: { width: 1280, height: 600 } });
    await page.goto(`${url}#/?q=sorted&span=3600000`);
    await page.waitForSelector(".space .row");
    expect((await page.evaluate<string[]>(NAMES)).slice(0, 2)).toEqual(["sorted 0", "sorted 1"]);
    expect(await page.locator(".space .row:not([hidden])").count()).toBeLessThan(count / 2);
    const byCount = Array.from({ length: count }, (_, i) => i).sort((a, b) => ((b * 37) % count) - ((a * 37) % count));
    const byMax = Array.from({ length: count }, (_, i) => count - 1 - i);
    for (const [column, order] of [
      ["Rate /s", byCount],
      ["Max", byMax],
    ] as const) {
      await page.click(`.head button:text-is("${column}")`);
      const first = JSON.stringify(order.slice(0, 5).map((i) => `sorted ${i}`));
      await holds(page, `JSON.stringify(${NAMES}.slice(0, 5)) === ${JSON.stringify(first)}`);
    }
    await page.click('.head button:text-is("Max")');
    await holds(page, `${NAMES}[0] === "sorted 0"`);
    expect(page.url()).toContain("sort=max&order=up");
    await page.reload();
    await holds(page, `${NAMES}[1] === "sorted 1"`);
    expect(await page.inputValue("select")).toBe("3600000");
    expect(await page.getAttribute('.head [aria-sort="ascending"]', "class")).toBe("number max");
    expect(troubles).toEqual([]);
  });

  test("the start of a process is a mark on the charts of a series", async () => {
    const { store, announced } = sceneOn((await redis()).url);
    await filledSeries(store, "marked", 500);
    await announced(1);
    const { processes } = await readRegistry(store);
    const { id, startedMs } = processes[0]!;
    const { url } = await siteOf(store);
    const { page } = await openPage(await browser(), { colorScheme: "light" });
    await page.goto(`${url}#/Series/marked?window=${startedMs - 30_000}-${startedMs - 10_000}`);
    await page.waitForSelector(".chart.lines canvas");
    expect(await page.evaluate(MARKED)).toBe(0);
    await page.goto(`${url}#/Series/marked?window=${startedMs - 30_000}-${startedMs + 30_000}`);
    await holds(page, `${MARKED} > 50`);
    expect(await page.locator(".marks li").allTextContents()).toEqual([expect.stringContaining(`${id} started`)]);
  });

  test("windows, marks, scale and span are in the address, and survive a reload", async () => {
    const { store, announced } = sceneOn((await redis()).url);
    const series = await filledSeries(store, "kept", 2000);
    await announced(1);
    const { to } = await series.stats({ percentiles: [] });
    const { url } = await siteOf(store);
    const { page, troubles } = await openPage(await browser());
    const [a, b] = [`${to - 120_000}-${to - 90_000}`, `${to - 60_000}-${to - 20_000}`];
    const marks = `${to - 70_000}.deploy%201.4.2`;
    await page.goto(`${url}#/Series/kept?span=900000&a=${a}&b=${b}&scale=linear&below=20&marks=${marks}`);
    const read = async () => {
      await page.waitForSelector(".halves .tag.b");
      await page.waitForSelector('.facts [data-name="below"]');
      return {
        address: page.url(),
        span: await page.textContent('.segments[aria-label="Span"] [aria-pressed="true"]'),
        scale: await page.inputValue("#scale"),
        lengths: await page.locator(".halves tr", { hasText: "length" }).locator("td").allTextContents(),
        mark: await page.textContent('.marks li:has-text("deploy 1.4.2")'),
      };
    };
    const before = await read();
    expect(before).toMatchObject({ span: "15 m", scale: "linear", lengths: ["30 s", "40 s", ""] });
    await page.reload();
    expect(await read()).toEqual(before);
    await page.selectOption("#scale", "log");
    await page.click('.segments[aria-label="Span"] button:text-is("5 m")');
    expect(page.url()).toContain("scale=log");
    expect(page.url()).toContain("span=300000");
    expect(troubles).toEqual([]);
  });

  test("the processes of a store without fleet metrics have a page of their own", async () => {
    const { store, announced } = sceneOn((await redis()).url);
    const kept = [new Lock(store, "kept")];
    await announced(kept.length);
    const { id, version, host } = (await readRegistry(store)).processes[0]!;
    const { url } = await siteOf(store);
    const { page, troubles, requests } = await openPage(await browser());
    await page.clock.install();
    await page.goto(url);
    await page.click(".overview .hint a");
    await page.waitForSelector("h1.title");
    expect(new URL(page.url()).hash).toBe("#/processes");
    const cells = await page.locator(".processes tbody tr").first().locator("td").allTextContents();
    expect(cells.slice(0, 3)).toEqual([id, host, version]);
    expect(cells[3]).toMatch(/\d\d:\d\d:\d\d$/);
    await page.reload();
    await page.waitForSelector(".processes tbody tr");
    await page.click(".back");
    await page.waitForSelector(".space .row");
    const asked = () => requests.filter((each) => each.includes("api/overview")).length;
    const before = asked();
    await page.clock.fastForward(60_000); // longer than the page of processes waits
    await page.evaluate("new Promise(requestAnimationFrame)");
    expect(asked()).toBe(before);
    expect(troubles).toEqual([]);
  });

  test.each(["light", "dark"] as const)("the overview fits into 360 px, %s", async (colorScheme) => {
    const { store, announced } = sceneOn((await redis()).url);
    await filledSeries(store, `${"long-name-of-a-service:".repeat(20)}${colorScheme}`, 200);
    await announced(1);
    const { url } = await siteOf(store);
    const { page } = await openPage(await browser(), { colorScheme, viewport: { width: 360, height: 740 } });
    await page.goto(url);
    await holds(
      page,
      '[...document.querySelectorAll(".space .rate:not([hidden])")].some((cell) => cell.textContent !== "")',
    );
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    const wide = await page.evaluate<string[]>(
      `[...document.querySelectorAll("body *")].filter((each) => each.getBoundingClientRect().right > 360.5)
        .map((each) => each.className)`,
    );
    expect(wide).toEqual([]);
  });
});
