import type { Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { Breaker, Limiter, recordHistory, slidingWindow } from "../../../src/entries/index.ts";
import { kindOf } from "../../../src/operate/kinds/kinds.ts";
import { oncePerFile } from "../../harness/ends.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";
import { holds, inChromium, openPage, seriousFindings } from "../page.ts";
import { SCENES } from "../panels/scenes.ts";
import { emptyScene, filledSeries, type Scene, siteOf } from "../scene.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));
let scene: Scene;
/** Structures of every kind, each with numbers. Two limiters are denied less than "the Limiter". */
beforeEach(async () => {
  scene = await emptyScene((await redis()).url);
  for (const { kind, make } of SCENES) await make(scene.store, `the ${kind}`);
  await filledSeries(scene.store, "latency");
  const history = recordHistory(scene.store);
  for (const [name, calls] of [
    ["api", 3],
    ["login", 5],
  ] as const) {
    const limiter = new Limiter(scene.store, [slidingWindow({ limit: 1, span: "1h" })], { name });
    for (let i = 0; i < calls; i++) await limiter.take("one");
  }
  await history.close();
  await scene.announced(SCENES.length + 3);
});

interface Shown {
  readonly name: string;
  readonly kind: string;
  readonly isBad: boolean;
  /** Heading or label, and text, of each cell after the name that can be seen. The text of a trend is its line. */
  readonly cells: readonly (readonly [title: string, text: string])[];
}

/** The rows on the screen from top to bottom. */
const ROWS = `[...document.querySelectorAll(".space .row:not([hidden])")]
  .sort((a, b) => a.getAttribute("aria-rowindex") - b.getAttribute("aria-rowindex"))
  .map((row) => ({
    name: row.querySelector("a").textContent,
    kind: row.querySelector(".kind").textContent,
    isBad: row.querySelector(".bad") !== null,
    cells: [...row.querySelectorAll('[role="cell"]:not(.name)')].filter((cell) => cell.checkVisibility()).map((cell) =>
      cell.matches(".trend") ? ["Events", cell.querySelector("path").getAttribute("d")] : [cell.dataset.head, cell.textContent]),
  }))`;
const HEADS = `[...document.querySelectorAll('[role="columnheader"]')].filter((head) => head.checkVisibility())`;
/** The left and right edges of headings, or of the cells of a row. */
const EDGES = (elements: string) =>
  `${elements}.filter((each) => each.checkVisibility()).map((each) => each.getBoundingClientRect())
    .map(({ left, right }) => [Math.round(left), Math.round(right)])`;
/** Those that stand in the rows. */
const LABELS = `[...document.querySelectorAll(".space .row:not([hidden]) .number:not([hidden])")]
  .filter((cell) => cell.checkVisibility() && getComputedStyle(cell, "::after").content === JSON.stringify(cell.dataset.head))`;
/** The texts of numbers that leave their row. */
const OUTSIDE = `[...document.querySelectorAll(".space .row:not([hidden]) .number:not([hidden])")]
  .filter((cell) => cell.checkVisibility() && cell.getBoundingClientRect().bottom > cell.closest(".row").getBoundingClientRect().bottom)
  .map((cell) => cell.dataset.head)`;
/** -1 is that of a row without a rate. */
const RATES = `${ROWS}.map(({ cells }) => Number((cells.find(([title]) => title === "Rate /s") ?? [0, -1])[1]))`;
const TITLES: Record<string, string> = {
  spark: "Events",
  rate: "Rate /s",
  denied: "Denied /s",
  max: "Max",
  lag: "Lag",
};

const titlesOf = (kind: string) => kindOf(kind).columns.map((column) => TITLES[column] ?? column);
const headsOf = (page: Page) => page.evaluate<string[]>(`${HEADS}.map((head) => head.textContent)`);
/** The rows, as soon as each has its numbers. */
async function rowsOf(page: Page): Promise<Shown[]> {
  await holds(page, `${ROWS}.length > 0 && ${ROWS}.every(({ cells }) => cells.every(([, text]) => text !== ""))`);
  return page.evaluate<Shown[]>(ROWS);
}
const isFirst = (page: Page, names: readonly string[]) =>
  holds(
    page,
    `${JSON.stringify(JSON.stringify(names))} === JSON.stringify(${ROWS}.map(({ name }) => name).slice(0, ${names.length}))`,
  );

inChromium((browser) => {
  test.each([
    ["light", 1280],
    ["dark", 1280],
    ["light", 390],
    ["dark", 390],
  ] as const)(
    "a row of any kind has the numbers of its kind with labels, and no other cell: %s, %i px",
    async (colorScheme, width) => {
      const { url } = await siteOf(scene.store);
      const { page, troubles } = await openPage(await browser(), { colorScheme, viewport: { width, height: 2000 } });
      await page.goto(url);
      const rows = await rowsOf(page);
      const kinds = rows.map(({ kind }) => kind);
      expect(kinds).toEqual(expect.arrayContaining(["Series", ...SCENES.map(({ kind }) => kind)]));
      // A narrow page has no more than two numbers.
      const hidden = width === 1280 ? [] : ["Events", "p50", "p90", "Max"];
      expect(rows.map(({ name, cells }) => [name, ...cells.map(([title]) => title)])).toEqual(
        rows.map(({ name, kind }) => [name, ...titlesOf(kind).filter((title) => !hidden.includes(title))]),
      );
      const numbers = rows.flatMap(({ cells }) => cells.filter(([title]) => title !== "Events"));
      expect(await page.evaluate(`${LABELS}.length`)).toBe(numbers.length);
      const queue = page.locator(".space .row", { hasText: "the DelayQueue" });
      expect(await queue.ariaSnapshot()).toMatch(/cell "[^"]+ Lag"$/); // a screen reader has the label, too
      expect(await headsOf(page)).toEqual(["Name"]);
      expect(await page.evaluate(OUTSIDE)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
      expect(await seriousFindings(page)).toEqual([]);
      expect(troubles).toEqual([]);
    },
  );

  test("a chosen kind has its columns exactly, with headings above them", async () => {
    const { url } = await siteOf(scene.store);
    const { page, troubles } = await openPage(await browser());
    await page.goto(url);
    for (const kind of ["Series", ...SCENES.map((each) => each.kind)]) {
      await page.locator(".chip", { hasText: new RegExp(`^${kind}[0-9]`) }).click();
      expect(page.url()).toContain(`kind=${kind}`);
      const rows = await rowsOf(page);
      expect(new Set(rows.map((row) => row.kind))).toEqual(new Set([kind]));
      expect([kind, ...(await headsOf(page))]).toEqual([kind, "Name", ...titlesOf(kind)]);
      for (const { cells } of rows) expect(cells.map(([title]) => title)).toEqual(titlesOf(kind));
      expect(await page.evaluate(`${LABELS}.length`)).toBe(0);
      const cells = `[...document.querySelector(".space .row:not([hidden])").children]`;
      expect(await page.evaluate(EDGES(cells))).toEqual(await page.evaluate(EDGES(HEADS)));
    }
    expect(troubles).toEqual([]);
  });

  test("a chosen kind sorts by its numbers", async () => {
    const { url } = await siteOf(scene.store);
    const { page, troubles } = await openPage(await browser());
    await page.goto(`${url}#/?kind=Limiter`);
    await page.click('.head button:text-is("Denied /s")');
    await isFirst(page, ["the Limiter", "login", "api"]);
    await page.click('.head button:text-is("Denied /s")');
    await isFirst(page, ["api", "login", "the Limiter"]);
    expect(await page.getAttribute('.head [aria-sort="ascending"]', "class")).toBe("number denied");
    // A search that leaves rows of one kind is as good as the choice of it.
    await page.goto(`${url}#/?q=limiter`);
    await page.click('.head button:text-is("Rate /s")');
    await isFirst(page, ["the Limiter", "login", "api"]);
    expect(troubles).toEqual([]);
  });

  test("rows stay where they are while someone points at them", async () => {
    const breakers = ["a", "b", "c"].map((name) => new Breaker(scene.store, { name, failures: 3, span: "1m" }));
    for (const each of breakers) await each.run(async () => 1);
    await scene.announced(SCENES.length + 6);
    const { url } = await siteOf(scene.store);
    const { page, troubles, requests } = await openPage(await browser());
    await page.clock.install();
    await page.goto(`${url}#/?kind=Breaker`);
    const namesOf = async () => (await page.evaluate<Shown[]>(ROWS)).map(({ name }) => name);
    let bad = 0;
    page.on("response", async (response) => {
      if (!response.url().includes("/rank")) return;
      const rows = (await response.json().catch(() => ({}))) as Record<string, { isBad?: boolean }>;
      bad = Object.values(rows).filter(({ isBad }) => isBad).length;
    });
    /** The server ranks the rows every 10 s. The page shows an answer before it asks again. */
    const ranked = async (wanted: number) => {
      let asked = Number.POSITIVE_INFINITY;
      const count = () => requests.filter((each) => each.includes("/rank")).length;
      await until(`${wanted} rows with a problem are ranked`, async () => {
        await page.clock.runFor(1000);
        if (isHovering) await page.mouse.move(500, 300 + (moves++ % 2));
        if (bad === wanted) asked = Math.min(asked, count());
        return count() > asked;
      });
    };
    let isHovering = false;
    let moves = 0;
    await isFirst(page, ["the Breaker", "a", "b", "c"]); // the open one
    await until("the ranking has come", () => bad > 0);
    const wanted = bad + 1;
    isHovering = true;
    await page.locator(".space .row", { hasText: "b" }).first().hover();
    await breakers[2]!.open();
    await breakers[2]!.flush();
    await ranked(wanted);
    expect(await namesOf()).toEqual(["the Breaker", "a", "b", "c"]);
    isHovering = false;
    await page.mouse.move(5, 5);
    await ranked(wanted);
    await isFirst(page, ["c", "the Breaker", "a", "b"]);
    expect(troubles).toEqual([]);
  });

  test("a link that sorts all kinds by a number has its heading, and problems first among the rows without it", async () => {
    const { url } = await siteOf(scene.store);
    const { page, troubles } = await openPage(await browser());
    await page.goto(`${url}#/?sort=rate`);
    await holds(page, `${ROWS}[0].kind === "Series"`);
    expect(await headsOf(page)).toEqual(["Name", "Rate /s"]);
    expect(await page.getAttribute(".head .rate", "aria-sort")).toBe("descending");
    await rowsOf(page);
    // The ranking is renewed every 10 s, and the rate of a breaker falls within them.
    await holds(page, `JSON.stringify(${RATES}) === JSON.stringify(${RATES}.toSorted((a, b) => b - a))`);
    const others = (await rowsOf(page)).filter(({ cells }) => !cells.some(([title]) => title === "Rate /s"));
    const areBad = others.map(({ isBad }) => isBad);
    expect(areBad).toEqual([...areBad].sort((a, b) => Number(b) - Number(a)));
    expect(new Set(areBad)).toEqual(new Set([true, false]));
    const [head, cell] = await page.evaluate<number[][]>(EDGES('[...document.querySelectorAll(".rate")].slice(0, 2)'));
    expect(head).toEqual(cell);
    // A lock has no rate.
    await page.locator(".chip", { hasText: /^Lock/ }).click();
    expect(await headsOf(page)).toEqual(["Name"]);
    await page.locator(".chip", { hasText: /^All/ }).click();
    await page.click('.head button:text-is("Name")');
    expect(await headsOf(page)).toEqual(["Name"]);
    expect(troubles).toEqual([]);
  });
});
