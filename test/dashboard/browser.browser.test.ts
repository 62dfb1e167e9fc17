import { beforeEach, expect, test } from "vitest";
import { DelayQueue, Limiter, Lock, Series, slidingWindow } from "../../src/entries/index.ts";
import type { SeriesView } from "../../src/operate/dashboard/protocol.ts";
import { oncePerFile } from "../harness/ends.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { holds, inChromium, openPage, seriousFindings } from "./page.ts";
import { emptyScene, filledSeries, json, type Scene, siteOf } from "./scene.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));
let scene: Scene;
beforeEach(async () => {
  scene = await emptyScene((await redis()).url);
});

const NAMES = [
  "<img src=x onerror=window.attacked=1>",
  "مرحبا بالعالم",
  `${"x".repeat(9990)} end`,
  "a/b?c#d&e=f",
  "\u202eevil",
];

/** Scrolls to the end, a little in each frame. */
const SCROLL = `(async () => {
  const viewport = document.querySelector(".viewport");
  const durations = [];
  let [last, most] = [performance.now(), 0];
  while (viewport.scrollTop + viewport.clientHeight < viewport.scrollHeight - 1) {
    viewport.scrollTop += 120;
    await new Promise(requestAnimationFrame);
    durations.push(performance.now() - last);
    last = performance.now();
    most = Math.max(most, document.querySelectorAll(".space .row").length);
  }
  const p95 = durations.sort((a, b) => a - b)[Math.floor(durations.length * 0.95)];
  return { most, p95, count: durations.length };
})()`;

/** Adds a script, a listener and a style to the page, as an attacker would who found a way to add markup. */
const ATTACK = `(() => {
  const script = document.createElement("script");
  script.textContent = "window.attacked = true";
  document.body.append(script);
  const markup = document.createElement("div");
  markup.innerHTML = '<img src="data:," onerror="window.attacked = true"><b style="color:red">x</b>';
  document.body.append(markup);
})()`;

inChromium((browser) => {
  test("the numbers on the page are those of Series, and no request leaves the dashboard", async () => {
    const series = await filledSeries(scene.store, "api:latency", 4000);
    await scene.announced(1);
    const { url } = await siteOf(scene.store);
    const { page, troubles, requests } = await openPage(await browser());
    const { to } = await series.stats({ percentiles: [] });
    const window = `${to - 200_000}-${to - 20_000}`;
    const answered = page.waitForResponse((response) => response.url().includes("part=view"));
    await page.goto(`${url}#/Series/api%3Alatency?window=${window}&below=42`);
    const view = await json<SeriesView>(fetch((await answered).url()));
    const stats = await series.stats({ span: 180_000, at: to - 20_000 });
    await page.waitForSelector('[data-name="below"]');
    const shown = Object.fromEntries(
      await page.evaluate<[string, number][]>(
        "[...document.querySelectorAll('.facts > div')].map((box) => [box.dataset.name, Number(box.title)])",
      ),
    );
    expect(shown).toEqual({
      count: stats.count,
      rate: stats.count / 180,
      mean: stats.mean,
      p50: stats.percentiles[50],
      p90: stats.percentiles[90],
      p99: stats.percentiles[99],
      max: stats.max,
      below: await series.fractionBelow(42, { span: 180_000, at: to - 20_000 }),
    });
    expect(view.whole.count).toBe(stats.count);
    await page.click("summary");
    await page.waitForSelector("details tbody tr");
    expect(await page.locator("details tbody tr").count()).toBe(view.endsMs.length);
    const events = await page.locator("details tbody tr td:nth-child(2)").allTextContents();
    expect(events.map(Number)).toEqual(view.count);
    expect(await page.locator(".plot canvas").count()).toBe(5);
    expect(requests.filter((request) => !request.startsWith(url) && !request.startsWith("data:"))).toEqual([]);
    expect(troubles).toEqual([]);
  });

  test("1000 series are a bounded number of rows, and numbers are asked for the visible ones only", async () => {
    const kept = Array.from({ length: 1000 }, (_, i) => new Series(scene.store, `service-${i % 40}:route-${i}`));
    await filledSeries(scene.store, "api:latency");
    await scene.announced(kept.length + 1);
    const { url } = await siteOf(scene.store);
    const { page, troubles, requests } = await openPage(await browser());
    await page.goto(url);
    await page.waitForSelector(".space .row");
    await page.waitForSelector(".space .spark-line[d^=M]", { state: "attached" });
    const asked = () =>
      requests
        .filter((request) => request.includes("api/stream"))
        .map((request) => new URL(request).searchParams.get("rows")!.split(",").length);
    expect(Math.max(...asked())).toBeLessThan(40);
    const before = requests.length;
    const frames = await page.evaluate<{ most: number; p95: number; count: number }>(SCROLL);
    console.info(`a scroll over 1000 series: ${frames.count} frames, 95 % within ${frames.p95.toFixed(1)} ms`);
    expect(frames.most).toBeLessThan(45);
    await holds(page, 'document.querySelector(".viewport").textContent.includes("route-999")');
    await page.waitForTimeout(600);
    // Streams are opened again only when the scroll pauses.
    expect(requests.length - before).toBeLessThan(12);
    expect(Math.max(...asked())).toBeLessThan(40);
    expect(troubles).toEqual([]);
  });

  test("foreign names are text, in the list and in their own view", async () => {
    for (const name of NAMES) await filledSeries(scene.store, name, 20);
    await scene.announced(NAMES.length);
    const { url } = await siteOf(scene.store);
    const { page, troubles } = await openPage(await browser(), { viewport: { width: 360, height: 740 } });
    for (const name of NAMES) {
      await page.goto(url);
      await page.locator(".space .name a", { hasText: name.slice(0, 40).replace("\u202e", "") }).click();
      await page.waitForSelector("h1.title");
      expect(await page.textContent("h1.title")).toBe(name);
      await page.waitForSelector(".facts dd");
      expect(await page.textContent('[data-name="count"] dd')).toBe("20");
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
      await page.reload(); // the address alone is enough
      await page.waitForSelector('[data-name="count"] dd');
      expect(await page.textContent("h1.title")).toBe(name);
      expect(await page.locator("main img").count()).toBe(0);
    }
    expect(await page.evaluate("window.attacked")).toBeUndefined();
    expect(troubles).toEqual([]);
  });

  test("the policy stops a script and a style that are injected", async () => {
    const { url } = await siteOf(scene.store);
    const { page, troubles } = await openPage(await browser());
    await page.goto(url);
    await page.waitForSelector(".empty h2");
    await page.evaluate(ATTACK);
    await page.waitForTimeout(200);
    expect(await page.evaluate("window.attacked")).toBeUndefined();
    expect(troubles.filter((text) => text.includes("Content Security Policy")).length).toBeGreaterThanOrEqual(2);
  });

  test.each(["light", "dark"] as const)(
    "the checker of accessibility finds nothing serious: %s",
    async (colorScheme) => {
      await filledSeries(scene.store, "api:latency");
      const made = [
        new Limiter(scene.store, [slidingWindow({ limit: 5, span: "1m" })], { name: "api" }),
        new Lock(scene.store, "nightly"),
        new DelayQueue(scene.store, "mail"),
      ];
      await scene.announced(made.length + 1);
      const { url } = await siteOf(scene.store, { allowActions: true });
      const { page } = await openPage(await browser(), { colorScheme });
      for (const [path, ready] of [
        ["", ".space .row .spark-line[d^=M]"],
        ["#/?q=nothing", ".empty h2"],
        ["#/Series/api%3Alatency", ".facts dd"],
        ["#/Limiter/api", "#reset-id"],
        ["#/DelayQueue/mail", ".pairs"],
      ] as const) {
        await page.goto("about:blank");
        await page.goto(url + path);
        await page.waitForSelector(ready, { state: "attached" });
        if (path.includes("Series")) await page.click("text=Compare with the time before");
        await page.waitForTimeout(300);
        expect([path, await seriousFindings(page)]).toEqual([path, []]);
      }
    },
  );
});
