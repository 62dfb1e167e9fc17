import { beforeEach, expect, test } from "vitest";
import { Counters, Lock } from "../../../src/entries/index.ts";
import { atEnd, oncePerFile } from "../../harness/ends.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";
import { holds, inChromium, openPage, seriousFindings } from "../page.ts";
import { emptyScene, type Scene, siteOf } from "../scene.ts";
import { ACTED } from "./acted.ts";
import { HOSTILE, SCENES, SINKS } from "./scenes.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));
let scene: Scene;
beforeEach(async () => {
  scene = await emptyScene((await redis()).url);
});

/** Those of the present come before those of the past. */
const FACTS =
  "Object.fromEntries([...document.querySelectorAll('.facts > div')].reverse().map((box) => [box.dataset.name, box.title]))";

inChromium((browser) => {
  test.each(SCENES)("$kind: the numbers on the page are those of the structure", async ({ kind, make }) => {
    const numbers = await make(scene.store, "numbers");
    await scene.announced(1);
    const { url } = await siteOf(scene.store, { sinks: SINKS });
    const { page, troubles, requests } = await openPage(await browser());
    await page.goto(`${url}#/${kind}/numbers`);
    await page.waitForSelector(".facts dd");
    const shown = await page.evaluate<Record<string, string>>(FACTS);
    const known = Object.entries(await numbers()).map(([name, value]) => [name, String(value)]);
    expect(known.length).toBeGreaterThan(0);
    expect(shown).toMatchObject(Object.fromEntries(known));
    expect(await page.locator("button.danger").count()).toBe(0); // no action without allowActions
    expect(requests.filter((each) => !each.startsWith(url) && !each.startsWith("data:"))).toEqual([]);
    expect(troubles).toEqual([]);
  });

  test.each(SCENES)("$kind: foreign names and data are text, in 360 px too", async ({ kind, make, foreign }) => {
    await make(scene.store, HOSTILE);
    await scene.announced(1);
    const { url } = await siteOf(scene.store, { allowActions: true, sinks: SINKS });
    const { page, troubles } = await openPage(await browser(), { viewport: { width: 360, height: 3000 } });
    await page.goto(`${url}#/${kind}/${encodeURIComponent(HOSTILE)}`);
    await page.waitForSelector(".facts dd");
    expect(await page.textContent("h1.title")).toBe(HOSTILE);
    for (const text of foreign)
      await holds(page, `document.querySelector("main").textContent.includes(${JSON.stringify(text)})`);
    expect(await page.locator("main img").count()).toBe(0);
    expect(await page.evaluate("window.attacked")).toBeUndefined();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    expect(troubles).toEqual([]);
  });

  test.each(SCENES)(
    "$kind: the checker of accessibility finds nothing serious, light and dark, wide and narrow",
    async ({ kind, make }) => {
      await make(scene.store, "checked");
      await scene.announced(1);
      const { url } = await siteOf(scene.store, { allowActions: true, sinks: SINKS });
      const { page } = await openPage(await browser());
      await page.goto(`${url}#/${kind}/checked`);
      await page.waitForSelector(".facts dd");
      await holds(page, '!document.querySelector("main").textContent.includes("Loading…")');
      for (const width of [1280, 360]) {
        await page.setViewportSize({ width, height: 2000 });
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          expect([width, colorScheme, await seriousFindings(page)]).toEqual([width, colorScheme, []]);
        }
      }
    },
  );

  test("the overview has the state of each structure below its name, and the lag of a queue", async () => {
    for (const { kind, make } of SCENES) await make(scene.store, `overview of a ${kind}`);
    await scene.announced(SCENES.length);
    const { url } = await siteOf(scene.store, { sinks: SINKS });
    const { page, troubles } = await openPage(await browser());
    await page.goto(`${url}#/?q=overview`);
    const note = (kind: string) =>
      `[...document.querySelectorAll(".space .row")].find((row) => row.querySelector(".kind").textContent === "${kind}")`;
    for (const [kind, text] of [
      ["DelayQueue", "■ 1 due, 1 waiting, 1 claimed, 5 dead: redrive or cancel them"],
      ["Lock", "held, 1 waiting"],
      ["ReadWriteLock", ""],
      ["Semaphore", "3 in use"],
      ["MultiSemaphore", "■ all 8 in use: look for holds that hang, or raise the limit"],
    ])
      await holds(page, `${note(kind!)}?.querySelector(".note").textContent === ${JSON.stringify(text)}`);
    await holds(page, `/^■ open, .* left/.test(${note("Breaker")}?.querySelector(".note").textContent)`);
    await holds(page, `/^\\d+(\\.\\d)? m?s$/.test(${note("DelayQueue")}.querySelector(".lag").textContent)`);
    expect(troubles).toEqual([]);
  });

  test("a diverged counter is found, rebased from the page, and its rate is shown", async () => {
    const { make } = ACTED.find(({ action }) => action === "rebase")!;
    const { sinks } = await make(scene.store, "diverged");
    await scene.announced(1);
    const { url } = await siteOf(scene.store, { allowActions: true, sinks });
    const { page, troubles } = await openPage(await browser());
    await page.clock.install();
    await page.goto(`${url}#/Counters/diverged`);
    const fact = (name: string) => `document.querySelector('.facts [data-name="${name}"]')?.title`;
    await holds(page, `${fact("diverged")} === "1"`);
    expect(await page.textContent(".card.shards tbody")).toContain("lost");
    await page.click("text=Rebase and keep doubtful events…");
    await page.click("dialog .danger");
    await holds(page, `${fact("diverged")} === "0"`);
    await page.waitForSelector("text=Rebase and keep doubtful events…", { state: "detached" });
    const counters = new Counters(scene.store, "diverged", { dimensions: ["page"], shards: 1 });
    atEnd(() => counters.close());
    await counters.add({ page: "p" }, 1000);
    await page.clock.fastForward(5000); // the page asks again
    await holds(page, `Number(${fact("rate")}) > 0`);
    expect(troubles).toEqual([]);
  });

  test("a part is asked for only while it is on the screen, and nothing after the panel is left", async () => {
    const { make } = SCENES.find(({ kind }) => kind === "DelayQueue")!;
    await make(scene.store, "quiet");
    const kept = new Lock(scene.store, "kept");
    await kept.inspect();
    await scene.announced(2);
    const { url } = await siteOf(scene.store, { sinks: SINKS });
    const { page, requests } = await openPage(await browser(), { viewport: { width: 1280, height: 190 } });
    await page.clock.install();
    await page.goto(`${url}#/DelayQueue/quiet`);
    await page.waitForSelector(".facts dd");
    const asked = (part: string) => requests.filter((each) => each.includes(`part=${part}`)).length;
    await page.clock.fastForward(2500);
    await until("the state is asked for again", () => asked("state") >= 2);
    expect(asked("dead")).toBe(0);
    await page.locator(".card.dead").scrollIntoViewIfNeeded();
    await holds(page, 'document.querySelectorAll(".card.dead tbody tr").length === 5');
    expect(asked("dead")).toBe(1);
    await page.goto(`${url}#/`);
    await page.waitForSelector(".space .row");
    const before = asked("");
    await page.clock.fastForward(2500);
    await page.clock.fastForward(60_000);
    await page.evaluate("new Promise(requestAnimationFrame)");
    expect(asked("")).toBe(before);
  });

  test("Chromium with the keyboard: a dead letter is redriven, and the focus stays in its table", async () => {
    const { make } = SCENES.find(({ kind }) => kind === "DelayQueue")!;
    const numbers = await make(scene.store, "keys");
    await scene.announced(1);
    const { url } = await siteOf(scene.store, { allowActions: true, sinks: SINKS });
    const { page, troubles } = await openPage(await browser());
    await page.goto(`${url}#/DelayQueue/keys`);
    await page.focus('[aria-label="Redrive dead 3"]');
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog[open]");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog", { state: "detached" });
    expect(await numbers()).toMatchObject({ dead: 5 });
    await page.keyboard.press("Enter"); // the focus has returned to the button
    await page.waitForSelector("dialog[open]");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await holds(page, 'document.querySelector(".log code")?.textContent === "dead 3"');
    await holds(page, 'document.querySelectorAll(".card.dead tbody tr").length === 4');
    expect(await page.evaluate('document.querySelector(".card.dead").contains(document.activeElement)')).toBe(true);
    expect(await numbers()).toMatchObject({ dead: 4, due: 2 });
    expect(troubles).toEqual([]);
  });
});
