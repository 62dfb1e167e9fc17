import { expect, test } from "vitest";
import {
  Breaker,
  Counters,
  DelayQueue,
  Limiter,
  Lock,
  recordHistory,
  slidingWindow,
} from "../../../src/entries/index.ts";
import { actionsKeyOf } from "../../../src/operate/dashboard/actions.ts";
import { actions } from "../../../src/operate/history/steps/actions.ts";
import { atEnd, oncePerFile } from "../../harness/ends.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { holds, inChromium, openPage } from "../page.ts";
import { sceneOn, siteOf } from "../scene.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));
/** Reverses what follows it, and a question with it. */
const REVERSED = 'pay"\u202eyas I :evomeR\u2066';

inChromium((browser) => {
  test("ids that look the same under maskIds are rows of their own", async () => {
    const { store, announced } = sceneOn((await redis()).url);
    const history = recordHistory(store);
    const limiter = new Limiter(store, [slidingWindow({ limit: 1, span: "1h" })], { name: "masked" });
    for (const [id, calls] of [
      ["user-11", 5],
      ["user-21", 4],
      ["user-31", 3],
    ] as const)
      for (let i = 0; i < calls; i++) await limiter.take(id);
    await history.close();
    await announced(1);
    const { url } = await siteOf(store, { maskIds: true });
    const { page, troubles } = await openPage(await browser());
    await page.goto(`${url}#/Limiter/masked`);
    await page.waitForSelector(".card.denied tbody tr");
    const rows = page.locator(".card.denied tbody tr");
    expect(await rows.locator("td:nth-child(1)").allTextContents()).toEqual(["u…1", "u…1", "u…1"]);
    expect(await rows.locator("td:nth-child(2)").allTextContents()).toEqual(["4", "3", "2"]);
    await limiter.reset("user-21");
    await page.reload();
    await holds(page, 'document.querySelectorAll(".card.denied td .good").length === 1');
    expect(await rows.locator("td:nth-child(3)").nth(1).textContent()).toBe("passes");
    expect(await page.content()).not.toContain("user-");
    expect(troubles).toEqual([]);
  });

  test("no question of a hostile name holds a sign that reorders it", async () => {
    const { store, announced } = sceneOn((await redis()).url);
    const made = [
      new Breaker(store, { name: REVERSED, failures: 3, span: "1m" }),
      new Limiter(store, [slidingWindow({ limit: 1, span: "1h" })], { name: REVERSED }),
    ];
    const held = await new Lock(store, REVERSED).tryLock({ lease: "10m" });
    expect(held).not.toBe(null);
    const queue = new DelayQueue(store, REVERSED);
    await queue.add(1, { id: REVERSED, delay: "1h" });
    await announced(made.length + 2);
    const { url } = await siteOf(store, { allowActions: true });
    const { page, troubles } = await openPage(await browser());
    for (const [kind, button] of [
      ["Breaker", "Open…"],
      ["Lock", "Release…"],
      ["Limiter", "Reset…"],
      ["DelayQueue", "Cancel…"],
    ] as const) {
      await page.goto(`${url}#/${kind}/${encodeURIComponent(REVERSED)}`);
      await page.waitForSelector("h1.title");
      if (kind === "Limiter") await page.fill("#reset-id", REVERSED);
      await page.click(`button:text-is("${button}")`);
      const question = (await page.textContent("#confirm-text"))!;
      expect(question).toContain('\\"\\u202eyas I :evomeR\\u2066"');
      expect([kind, question]).toEqual([kind, expect.not.stringMatching(/[\u202e\u2066]/)]);
      await page.keyboard.press("Escape");
      await page.waitForSelector("dialog", { state: "detached" });
    }
    // The report of the action has no such sign either.
    await page.click('button:text-is("Cancel…")');
    await page.click("dialog .danger");
    await holds(
      page,
      'document.querySelector("[aria-labelledby=log-title] [role=status]").textContent.includes("was removed")',
    );
    expect(await page.textContent("[aria-labelledby=log-title] [role=status]")).not.toMatch(/[\u202e\u2066]/);
    expect(troubles).toEqual([]);
  });

  test("the actions of a structure are those of its own name, with words, the user and the outcome", async () => {
    const { store, announced } = sceneOn((await redis()).url);
    const long = "x".repeat(300);
    const made = ["log", "log:v2", long].map((name) => new DelayQueue(store, name));
    for (const queue of made) await queue.counts();
    await announced(made.length);
    const logged = (name: string, target: string, more: object = {}) => ({
      ...{ id: target, action: "redriveAll", kind: "DelayQueue", name, target },
      ...more,
    });
    for (const entry of [
      logged("log", "of log"),
      logged("log:v2", "of v2", { by: "ada" }),
      logged("log…", "of dots"),
      logged(`${"x".repeat(200)}…`, "of long"),
    ])
      await store.run(actions, actionsKeyOf(store), { entry, isWanted: false });
    const { url } = await siteOf(store, { allowActions: true });
    const { page, troubles } = await openPage(await browser());
    await page.setViewportSize({ width: 1280, height: 2000 }); // parts out of sight are not read
    for (const [name, target, text] of [
      ["log", "of log", "redrive all of log"],
      ["log:v2", "of v2", "redrive all of v2 by ada"],
      [long, "of long", "redrive all of long"],
    ] as const) {
      await page.goto(`${url}#/?sort=name`); // rows of another order may move before the click
      await page.locator(".space .name a", { hasText: new RegExp(`^${name}$`) }).click();
      await holds(page, `document.querySelector(".log code")?.textContent === "${target}"`);
      expect(await page.locator(".log li").allTextContents()).toEqual([expect.stringMatching(`^\\S+ ${text}$`)]);
    }
    expect(troubles).toEqual([]);
  });

  test("an action and a setting are described in sentences and words", async () => {
    const { store, announced } = sceneOn((await redis()).url);
    const queue = new DelayQueue(store, "worded", { attempts: 1 });
    for (let i = 0; i < 3; i++) await queue.add(i);
    for (const each of await queue.claim({ limit: 3 })) await queue.nack(each);
    const made = [
      new Breaker(store, { name: "worded", failureRatio: 0.5, minimumCalls: 7, span: "1m" }),
      new Counters(store, "worded", { dimensions: ["page", "country"], shards: 2 }),
    ];
    atEnd(() => (made[1] as Counters).close());
    await (made[1] as Counters).add({ page: "p", country: "de" });
    await announced(3);
    const { url } = await siteOf(store, { allowActions: true });
    const { page, troubles } = await openPage(await browser());
    await page.goto(`${url}#/DelayQueue/worded`);
    const done = page.locator('[aria-labelledby="log-title"] [role=status]');
    for (const [button, sentence] of [
      ["Redrive all…", "3 dead messages are due now."],
      ["Pause…", "The queue is paused. Workers claim no message."],
      ["Resume…", "The queue goes on. Workers claim messages again."],
    ] as const) {
      await page.click(`button:text-is("${button}")`);
      await page.click("dialog .buttons button:last-child");
      await done.and(page.getByText(sentence, { exact: true })).waitFor();
    }
    await holds(page, '/^\\S+ resume  – done$/.test(document.querySelector(".log li").textContent)');
    await page.goto(`${url}#/Breaker/worded`);
    await page.waitForSelector('dt:text-is("minimum calls")');
    expect(await page.textContent('dt:text-is("minimum calls") + dd')).toBe("7");
    expect(await page.getAttribute('dt:text-is("minimum calls")', "title")).toBe("minimumCalls");
    await page.goto(`${url}#/Counters/worded`);
    await page.waitForSelector('th:text-is("Batches stored")');
    expect(await page.getAttribute('th:text-is("Doubtful")', "title")).toContain("may already have");
    expect(troubles).toEqual([]);
  });
});
