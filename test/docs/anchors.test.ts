// Each link of a page to a heading leads to one.
import { dirname, join } from "node:path/posix";
import { expect, test } from "vitest";
import { anchorsOf, pages, textOf } from "./blocks.ts";

test("each link to a heading leads to one", () => {
  const all = new Set(pages());
  const links = pages().flatMap((page) =>
    [...textOf(page).matchAll(/\]\(((?!https?:|\/)[^)#\s]*)#([^)\s]+)\)/g)].map(([, path, anchor]) => ({
      page,
      target: path === "" ? page : join(dirname(page), path!),
      anchor: anchor!,
    })),
  );
  expect(links.length).toBeGreaterThan(100);
  const dead = links.filter(({ target, anchor }) => all.has(target) && !anchorsOf(textOf(target)).has(anchor));
  expect(dead.map(({ page, target, anchor }) => `${page}: ${target}#${anchor}`)).toEqual([]);
});
