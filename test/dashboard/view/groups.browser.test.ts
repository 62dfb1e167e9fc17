import { expect, test } from "vitest";
import { SeriesGroup } from "../../../src/entries/index.ts";
import { atEnd, oncePerFile } from "../../harness/ends.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";
import { holds, inChromium, openPage, seriousFindings } from "../page.ts";
import { emptyScene, filledGroup, siteOf } from "../scene.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));

/** The texts of each row of the table. */
const ROWS =
  '[...document.querySelectorAll(".groups tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent))';
const SORTED = '[...document.querySelectorAll(".groups th")].map((head) => head.getAttribute("aria-sort"))';

inChromium((browser) => {
  async function opened(options: Parameters<typeof openPage>[1] = {}) {
    const { store, announced } = await emptyScene((await redis()).url);
    const group = await filledGroup(store, "http");
    await announced(1);
    const { url } = await siteOf(store);
    const watched = await openPage(await browser(), options);
    return { store, group, url, ...watched };
  }

  test("each head sorts by its column, by the pointer and the keyboard, and the order survives a reload", async () => {
    const { group, url, page, troubles } = await opened();
    const { to } = await group.stats({ percentiles: [] });
    const window = { span: 200_000, at: to };
    await page.goto(`${url}#/SeriesGroup/http?window=${to - window.span}-${to}`);
    await holds(page, `${ROWS}.length > 12`);
    const { rows } = await group.stats(window);
    const ids = (read: (row: (typeof rows)[number]) => number, sign: number) =>
      [...rows].sort((a, b) => sign * (read(a) - read(b))).map((row) => read(row));
    /** The numbers of a column, as their tooltips have all digits. */
    const column = (place: number) =>
      `[...document.querySelectorAll(".groups tbody td:nth-child(${place}) span")].map((each) => Number(each.title))`;
    for (const [head, place, read] of [
      ["Mean", 5, ({ mean }) => mean],
      ["p99", 8, ({ percentiles }) => percentiles[99]],
      ["Events", 3, ({ count }) => count],
    ] as [string, number, (row: (typeof rows)[number]) => number][])
      for (const sign of [-1, 1]) {
        await page.click(`.groups th button:text-is("${head}")`);
        await holds(page, `JSON.stringify(${column(place)}) === ${JSON.stringify(JSON.stringify(ids(read, sign)))}`);
        const marks = Array.from({ length: 9 }, (_, i) =>
          i + 1 !== place ? "none" : sign > 0 ? "ascending" : "descending",
        );
        expect(await page.evaluate(SORTED)).toEqual(marks);
      }
    await page.focus('.groups th button:text-is("route")');
    await page.keyboard.press("Enter");
    await holds(page, `${ROWS}[0][0] === "/r0" && ${ROWS}.at(-1)[0] === "/r11"`);
    await page.keyboard.press("Enter");
    await holds(page, `${ROWS}[0][0] === "/r11"`);
    expect(await page.evaluate("document.activeElement.textContent")).toBe("route");
    expect(page.url()).toContain("sort=label.route&order=down");
    await page.reload();
    await holds(page, `${ROWS}[0]?.[0] === "/r11"`);
    expect(await page.evaluate<string[]>(SORTED)).toContain("descending");
    expect(troubles).toEqual([]);
  });

  test("the labels of a row are chosen, and the order by a label that goes is that by events", async () => {
    const { group, url, page, troubles } = await opened();
    await page.goto(`${url}#/SeriesGroup/http?sort=label.method`);
    await holds(page, `${ROWS}.length > 12`);
    await page.click('.groups .chip:text-is("method")');
    await holds(page, `${ROWS}.length === 12`);
    expect(await page.locator('.groups .chip[aria-pressed="true"]').allTextContents()).toEqual(["route"]);
    const { rows } = await group.stats({ by: ["route"], span: "5m" });
    expect((await page.evaluate<string[][]>(ROWS)).map(([route]) => route)).toEqual(
      rows.map(({ labels }) => labels.route),
    );
    expect(page.url()).toMatch(/\?by=route$/);
    await page.click('.groups .chip:text-is("route")'); // the last one brings back all
    await holds(page, `${ROWS}.length > 12`);
    expect(troubles).toEqual([]);
  });

  test("a row opens its numbers over time, the address holds it, and the way back keeps the order", async () => {
    const { group, url, page, troubles } = await opened();
    const { to } = await group.stats({ percentiles: [] });
    const at = `window=${to - 200_000}-${to}`;
    await page.goto(`${url}#/SeriesGroup/http?${at}&sort=p99`);
    await holds(page, `${ROWS}.length > 12`);
    const [route, method] = (await page.evaluate<string[][]>(ROWS))[1]!;
    await page.locator(".groups tbody tr:nth-child(2) a").focus();
    await page.keyboard.press("Enter");
    await page.waitForSelector(".chart.lines canvas");
    expect(await page.locator("h2.group code").allTextContents()).toEqual([route, method]);
    expect(await page.evaluate('document.activeElement === document.querySelector("h2.group")')).toBe(true);
    const match = { route: route!, method: method! };
    const whole = (await group.stats({ span: 200_000, at: to, match, by: [] })).rows[0]!;
    const fact = (name: string) => page.getAttribute(`.facts [data-name="${name}"]`, "title");
    expect([await fact("count"), await fact("p99")]).toEqual([`${whole.count}`, `${whole.percentiles[99]}`]);
    expect(await page.locator(".chart.heat").isVisible()).toBe(false);
    await page.click("summary");
    await page.waitForSelector("table.numbers tbody tr");
    const buckets = await page.locator("table.numbers tbody tr td:nth-child(2)").allTextContents();
    expect(buckets.reduce((sum, count) => sum + Number(count), 0)).toBe(whole.count);
    await page.reload();
    await page.waitForSelector(".chart.lines canvas");
    expect(await page.locator("h2.group code").allTextContents()).toEqual([route, method]);
    await page.click("text=← All groups");
    await holds(page, `${ROWS}[1]?.[0] === ${JSON.stringify(route)} && ${ROWS}[1][1] === ${JSON.stringify(method)}`);
    expect(page.url()).toContain("sort=p99");
    await page.goBack();
    await page.waitForSelector(".chart.lines canvas");
    expect(troubles).toEqual([]);
  });

  test("new events change the cells, and the focus stays on its row", async () => {
    const { group, url, page, troubles } = await opened();
    await page.clock.install();
    await page.goto(`${url}#/SeriesGroup/http?by=route&sort=label.route`);
    await holds(page, `${ROWS}.length === 12`);
    const before = (await page.evaluate<string[][]>(ROWS))[0]!;
    await page.locator(".groups tbody tr:nth-child(1) a").focus();
    for (let i = 0; i < 5; i++) await group.record(123_456, { route: "/r0", method: "GET" });
    await until("the page has asked again", async () => {
      await page.clock.fastForward(2500);
      return page.evaluate<boolean>(`${ROWS}[0].at(-1) === "123,456"`);
    });
    expect((await page.evaluate<string[][]>(ROWS))[0]).not.toEqual(before);
    expect(await page.evaluate("document.activeElement.textContent")).toBe("/r0");
    expect(troubles).toEqual([]);
  });

  test("rows stay where they are while the pointer moves over them", async () => {
    const { group, url, page, troubles } = await opened();
    await page.clock.install();
    await page.goto(`${url}#/SeriesGroup/http?by=route&sort=max`);
    await holds(page, `${ROWS}.length === 12`);
    const routes = `${ROWS}.map(([route]) => route)`;
    const before = await page.evaluate<string[]>(routes);
    const last = before.at(-1)!;
    await group.record(999_999, { route: last, method: "GET" });
    await page.hover(".groups tbody tr:nth-child(3)");
    await until("the new number is shown", async () => {
      await page.dispatchEvent(".groups tbody", "pointermove");
      await page.clock.fastForward(1000);
      await page.dispatchEvent(".groups tbody", "pointermove");
      return page.evaluate<boolean>(`${ROWS}.some((row) => row.at(-1) === "999,999")`);
    });
    expect(await page.evaluate(routes)).toEqual(before);
    await group.record(999_999, { route: last, method: "GET" });
    await until("the order is that of the numbers", async () => {
      await page.clock.fastForward(2500);
      return page.evaluate<boolean>(`${routes}[0] === ${JSON.stringify(last)}`);
    });
    expect(troubles).toEqual([]);
  });

  test("labels of any kind are text, in 360 px too, and lead to their own group", async () => {
    const { store, announced } = await emptyScene((await redis()).url);
    const labels = ["route", "a_name_of_sixty_four_characters_that_no_narrow_page_has_room_for"] as const;
    const group = new SeriesGroup(store, "odd", { labels });
    atEnd(() => group.close());
    const values = [
      '<img src=x onerror="window.attacked=1">',
      "\u202eevil\u2066",
      "مرحبا",
      "x".repeat(128),
      "",
      "__proto__",
    ];
    for (const [i, route] of values.entries())
      for (let n = 0; n <= i; n++) await group.record(n, { route, [labels[1]]: "" } as never);
    await announced(1);
    const { url } = await siteOf(store);
    const { page, troubles } = await openPage(await browser(), { viewport: { width: 360, height: 800 } });
    const width = () => page.evaluate("document.documentElement.scrollWidth");
    for (const [i, route] of values.entries()) {
      await page.goto(`${url}#/SeriesGroup/odd?order=up`);
      await holds(page, `${ROWS}.length === ${values.length}`);
      expect((await page.evaluate<string[][]>(ROWS))[i]!.slice(0, 3)).toEqual([
        route || "(empty)",
        "(empty)",
        `${i + 1}`,
      ]);
      expect(await width()).toBe(360);
      await page.locator(`.groups tbody tr:nth-child(${i + 1}) a`).click();
      await holds(page, `document.querySelector('.facts [data-name="count"]')?.title === "${i + 1}"`);
      expect(await page.textContent("h2.group code")).toBe(route || "(empty)");
      expect(await width()).toBe(360);
    }
    expect(await page.locator("main img").count()).toBe(0);
    expect(await page.evaluate("window.attacked")).toBeUndefined();
    expect(troubles).toEqual([]);
  });

  test("the checker of accessibility finds nothing serious on the page of a group, light and dark, wide and narrow", async () => {
    const { url, page, troubles } = await opened();
    await page.goto(`${url}#/SeriesGroup/http?group=${encodeURIComponent('{"route":"/r0"}')}`);
    await page.waitForSelector(".chart.lines canvas");
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 2000 });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect([width, colorScheme, await seriousFindings(page)]).toEqual([width, colorScheme, []]);
      }
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    }
    expect(troubles).toEqual([]);
  });

  test("on a narrow page the heads stand above the rows, and sort", async () => {
    const { url, page, troubles } = await opened({ viewport: { width: 360, height: 2000 } });
    await page.goto(`${url}#/SeriesGroup/http`);
    await holds(page, `${ROWS}.length > 12`);
    const heads = await page
      .locator(".groups th")
      .evaluateAll((all) =>
        all.map((head) => [head.getBoundingClientRect().width, head.firstElementChild!.getBoundingClientRect().width]),
      );
    expect(heads).toHaveLength(9);
    for (const [head, button] of heads) expect([head! > 20, head]).toEqual([true, button]);
    await page.click('.groups th button:text-is("Max")');
    await holds(page, `${SORTED}[8] === "descending"`);
    expect(troubles).toEqual([]);
  });

  test("an address that names no group says what is wrong", async () => {
    const { url, page } = await opened();
    for (const [group, message] of [
      ["{", "match is"],
      ["5", "match is"],
      ['{"size":"a"}', "size"],
      ['{"route":"nothing"}', "No event of this group"],
    ] as const) {
      await page.goto(`${url}#/SeriesGroup/http?group=${encodeURIComponent(group)}`);
      await holds(page, `document.querySelector("main").innerText.includes(${JSON.stringify(message)})`);
    }
    await page.goto(`${url}#/SeriesGroup/http?sort=nothing`);
    await holds(page, `document.querySelector("main [role=alert]").textContent.includes("sort is")`);
  });
});
