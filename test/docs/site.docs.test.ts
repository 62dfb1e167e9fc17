// The documentation site, built as `npm run docs:build` builds it, in headless Chromium.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { pages as listedPages } from "../../docs/.vitepress/sidebar.ts";
import { kernel, Limiter, memoryStore, slidingWindow } from "../../src/entries/index.ts";
import { holds, inChromium, openPage, seriousFindings, type Watched } from "../dashboard/page.ts";
import { oncePerFile } from "../harness/ends.ts";
import { pages } from "./blocks.ts";
import { buildSite, built, builtFiles, idsOf, linksOf, serveSite } from "./site.ts";

beforeAll(buildSite, 1_200_000);

const listed = listedPages.flatMap(({ items = [] }) => items.map(({ link = "" }) => link));
const site = oncePerFile(async () => {
  const { url, close } = await serveSite();
  return { url, stop: close };
});

test("the sidebar lists every page, and every listed page exists", () => {
  const written = pages()
    .filter((page) => page.startsWith("docs/"))
    .map((page) => page.slice("docs".length, -".md".length));
  const others = ["/index", "/playground", "/runbook/"];
  expect(written.filter((page) => !listed.includes(page) && !others.some((other) => page.startsWith(other)))).toEqual(
    [],
  );
  expect(listed.filter((link) => !existsSync(join(built, `${link}.html`)))).toEqual([]);
  expect(listed.length).toBeGreaterThan(40);
});

test("no link and no anchor is broken", () => {
  const html = builtFiles().filter((path) => path.endsWith(".html"));
  const ids = new Map(html.map((path) => [path, idsOf(path)]));
  const links = html.flatMap(linksOf);
  expect(links.length).toBeGreaterThan(500);
  const broken = links.filter(({ to, anchor }) => {
    const file = to === "" || to.endsWith("/") ? `${to}index.html` : to;
    if (!existsSync(join(built, file))) return true;
    return anchor !== "" && ids.has(file) && !ids.get(file)!.has(anchor);
  });
  expect(broken.map(({ from, to, anchor }) => `${from}: ${to}#${anchor}`)).toEqual([]);
});

test("llms.txt lists the pages, and each has a Markdown file", () => {
  const text = readFileSync(join(built, "llms.txt"), "utf8");
  for (const link of listed) {
    expect(text).toContain(`${link}.md`);
    expect(existsSync(join(built, `${link}.md`)), link).toBe(true);
  }
});

/** Texts of elements that are wider than the window, and do not scroll by themselves. */
const WIDER = `[...document.querySelectorAll("main *")]
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 1 && !each.closest("table, pre, .vp-code-group, [class*=language-]"))
  .map((each) => each.outerHTML.slice(0, 120))`;

inChromium((browser) => {
  /** Opens each page, and returns what is wrong with it. */
  async function visited(
    paths: readonly string[],
    check: (page: Watched["page"]) => Promise<unknown[]>,
    colorScheme: "light" | "dark",
  ) {
    const { url } = await site();
    const { page, troubles, requests } = await openPage(await browser(), { colorScheme, reducedMotion: "reduce" });
    const found: unknown[] = [];
    for (const path of paths) {
      await page.goto(`${url}${path}`, { waitUntil: "load" });
      await page.waitForSelector("#app > *");
      const wrong = await check(page);
      if (wrong.length > 0) found.push([path, ...wrong]);
    }
    expect(requests.filter((request) => !request.startsWith(url) && !request.startsWith("data:"))).toEqual([]);
    expect(troubles).toEqual([]);
    return found;
  }
  const all = ["", "playground.html", ...listed.map((link) => `${link.slice(1)}.html`)];
  const kinds = ["", "playground.html", "start/install.html", "structures/limiter.html", "errors.html"];

  /** The width of the page and its elements that exceed a window of 360 px. */
  async function tooWide(page: Watched["page"]): Promise<unknown[]> {
    await page.setViewportSize({ width: 360, height: 740 });
    const width = await page.evaluate<number>("document.documentElement.scrollWidth");
    const found = width > 360 ? [width, ...(await page.evaluate<string[]>(WIDER)).slice(0, 3)] : [];
    await page.setViewportSize({ width: 1280, height: 800 });
    return found;
  }

  test("every page has no message, outside request or serious finding of the accessibility checker, and fits into 360 px", async () => {
    const check = async (page: Watched["page"]) => [...(await seriousFindings(page)), ...(await tooWide(page))];
    expect(await visited(all, check, "light")).toEqual([]);
  });

  test("in the dark theme the kinds of pages have no serious finding", async () => {
    expect(await visited(kinds, seriousFindings, "dark")).toEqual([]);
  });

  test("the search finds the page for the words that people use", async () => {
    const { page } = await openPage(await browser());
    await page.goto(`${(await site()).url}start/install.html`);
    await page.click("button.DocSearch-Button, .VPNavBarSearch button");
    for (const [words, first] of [
      ["sliding window log", "/structures/limiter"],
      ["token bucket", "/structures/limiter"],
      ["leaky bucket", "/structures/limiter"],
      ["mutex", "/structures/locks"],
      ["deadlock", "/structures/locks"],
      ["cron", "/recipes/cron"],
      ["p99", "/recipes/p99-alert"],
      ["brute force", "/recipes/login"],
      ["native histogram", "/monitoring"],
    ] as const) {
      // The box is loaded by the click, and keys before that would be lost.
      await page.fill(".VPLocalSearchBox input", words);
      await holds(page, `document.querySelector(".VPLocalSearchBox .result")?.pathname.startsWith("${first}")`);
    }
    expect(await page.locator(".VPLocalSearchBox .result").count()).toBeGreaterThan(1);
  });

  describe("the playground", () => {
    const VALUES = [5, 1, 2.5, 100, 7, 7];

    test("computes the statistics and the percentiles of pasted values", async () => {
      const { page, troubles } = await openPage(await browser());
      await page.goto(`${(await site()).url}playground.html`);
      await page.fill("textarea[name=values]", VALUES.join("\n"));
      await page.fill("input[name=percentiles]", "10 64.4");
      await holds(page, `document.querySelector('[data-name="stats"] td').textContent === "6"`);
      const rowOf = async (name: string) =>
        (await page.locator(`tr[data-name="${name}"] td.number`).allTextContents()).map(Number);
      for (const method of ["linear", "inverted_cdf", "nearest", "weibull"] as const)
        expect(await rowOf(method)).toEqual(
          kernel
            .percentile(Float64Array.from(VALUES), [10, 64.4], { method })
            .map((each) => Number(each.toPrecision(9))),
        );
      expect(await page.locator("tbody tr code").count()).toBe(13);
      expect((await rowOf("stats")).slice(0, 3)).toEqual([6, 122.5, Number((122.5 / 6).toPrecision(9))]);
      await page.fill("input[name=percentiles]", "101");
      expect(await page.textContent("[role=alert]")).toContain("from 0 to 100");
      expect(troubles).toEqual([]);
    });

    test("steps a limiter through time", async () => {
      const { page } = await openPage(await browser());
      await page.goto(`${(await site()).url}playground.html`);
      let nowMs = 0;
      const limiter = new Limiter(memoryStore({ clock: () => nowMs }), [slidingWindow({ limit: 5, span: "10s" })], {
        name: "playground",
      });
      for (const [ms, button] of [
        [0, "Take 1"],
        [1000, "Take 5"],
        [10_000, "Take 1"],
      ] as const) {
        for (; nowMs < ms; nowMs += 1000) await page.click("text=+1 s");
        await page.click(`text=${button}`);
        const decisions = await Promise.all(Array.from({ length: Number(button.slice(5)) }, () => limiter.take("you")));
        const allowed = decisions.filter((each) => each.allowed).length;
        await holds(
          page,
          `document.querySelector('tr[data-name="take 0"] td').textContent === "${(ms / 1000).toFixed(1)} s"`,
        );
        const [, shown, remaining] = await page.locator('tr[data-name="take 0"] td').allTextContents();
        expect([shown, remaining]).toEqual([`${allowed} of ${decisions.length}`, `${decisions.at(-1)!.remaining}`]);
      }
    });
  });
});
