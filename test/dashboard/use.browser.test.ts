import { beforeEach, expect, test } from "vitest";
import { Limiter, Series, slidingWindow } from "../../src/entries/index.ts";
import { oncePerFile } from "../harness/ends.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { holds, inChromium, openPage } from "./page.ts";
import { emptyScene, filledSeries, type Scene, sceneOn, siteOf } from "./scene.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));
let scene: Scene;
beforeEach(async () => {
  scene = await emptyScene((await redis()).url);
});

inChromium((browser) => {
  test("everything can be done with the keyboard", async () => {
    const kept = Array.from({ length: 60 }, (_, i) => new Series(scene.store, `s${String(i).padStart(2, "0")}`));
    const series = await filledSeries(scene.store, "s17 latency");
    const limiter = new Limiter(scene.store, [slidingWindow({ limit: 1, span: "1h" })], { name: "api" });
    await limiter.take("user-1");
    await scene.announced(kept.length + 2);
    const { url } = await siteOf(scene.store, { allowActions: true });
    const { page, troubles } = await openPage(await browser());
    await page.goto(url);
    await page.waitForSelector(".space .row");
    await page.keyboard.press("/");
    await page.keyboard.type("s17 lat");
    await holds(page, 'document.querySelectorAll(".space .row:not([hidden])").length === 1');
    await page.focus(".viewport");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".facts dd");
    expect(await page.textContent("h1.title")).toBe(series.name);
    await page.focus(".plot");
    const window = () =>
      new URLSearchParams(new URL(page.url()).hash.split("?")[1]).get("window")?.split("-").map(Number);
    await page.keyboard.press("+");
    await holds(page, 'location.hash.includes("window=")');
    const [from = 0, to = 0] = window()!;
    expect(Math.abs(to - from - 150_000)).toBeLessThan(5);
    await holds(page, 'document.querySelector(".window").textContent.includes("(2 m 30 s)")');
    await page.keyboard.press("ArrowLeft");
    await holds(page, `!location.hash.includes("${from}")`);
    expect(window()![0]).toBeLessThan(from);
    await page.keyboard.press("Escape");
    await holds(page, '!location.hash.includes("window=")');
    await page.goto(`${url}#/Limiter/api`);
    await page.focus("#reset-id");
    await page.keyboard.type("user-1");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog[open]");
    await page.keyboard.press("Escape"); // asks first, and Escape means no
    await page.waitForSelector("dialog", { state: "detached" });
    expect((await limiter.take("user-1")).allowed).toBe(false);
    await page.focus("text=Reset…");
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog[open]");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await holds(page, 'document.querySelector(".log code")?.textContent === "user-1"');
    expect((await limiter.take("user-1")).allowed).toBe(true);
    expect(troubles).toEqual([]);
  });

  test("dragging over a chart zooms, the back button returns, and A and B compare", async () => {
    await filledSeries(scene.store, "api:latency", 4000);
    await scene.announced(1);
    const { url } = await siteOf(scene.store);
    const { page, troubles } = await openPage(await browser());
    await page.goto(`${url}#/Series/api%3Alatency`);
    await page.waitForSelector(".chart.lines .u-over");
    const drag = async (from: number, to: number) => {
      const box = (await page.locator(".chart.lines .u-over").boundingBox())!;
      await page.mouse.move(box.x + box.width * from, box.y + 40);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * to, box.y + 60, { steps: 5 });
      await page.mouse.up();
    };
    await drag(0.4, 0.6);
    await holds(page, 'location.hash.includes("window=")');
    await page.goBack();
    await holds(page, '!location.hash.includes("window=")');
    await page.click("text=Window A");
    await drag(0.3, 0.5);
    await holds(page, "/[?&]a=/.test(location.hash)");
    await page.click("text=Window B");
    await drag(0.6, 0.9);
    await page.waitForSelector(".halves .tag.b");
    const lengths = await page.locator(".halves tr", { hasText: "length" }).locator("td").allTextContents();
    expect(lengths[0]).toMatch(/^(1 m|59 s|60 s)/);
    expect(lengths[1]).toMatch(/^1 m (29|30|31) s/);
    expect(troubles).toEqual([]);
  });

  test("a page without the token asks for it, and the address may bring it once", async () => {
    const { url } = await siteOf(scene.store, { token: "0123456789abcdef" });
    const { page } = await openPage(await browser());
    await page.goto(url);
    await page.fill("#token", "wrong");
    await page.keyboard.press("Enter");
    await page.waitForSelector("text=This is not the token.");
    await page.fill("#token", "0123456789abcdef");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".empty h2");
    await page.context().clearCookies();
    await page.goto(`${url}?token=0123456789abcdef`);
    await page.waitForSelector(".empty h2");
    expect(page.url()).not.toContain("token");
    await page.reload();
    await page.waitForSelector(".empty h2");
  });

  test("a store that stops answering is reported, and the page goes on when it is back", async () => {
    const own = await startRedis({ tcp: true });
    const { store, announced } = sceneOn(own.url);
    const kept = [new Series(store, "kept")];
    await announced(kept.length);
    const { url } = await siteOf(store);
    const { page } = await openPage(await browser());
    await page.goto(url);
    await page.waitForSelector(".space .row");
    own.pause();
    await page.waitForSelector(".notice.bad:not([hidden])", { timeout: 240_000 });
    expect(await page.textContent(".notice.bad")).toContain("has not answered");
    expect(await page.locator(".space .row:not([hidden])").count()).toBeGreaterThan(0);
    own.resume();
    await page.waitForSelector(".notice.bad", { state: "hidden", timeout: 240_000 });
    await own.stop();
  });
});
