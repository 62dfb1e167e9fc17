import { describe, expect, test } from "vitest";
import { pages, textOf } from "./blocks.ts";

const HEADINGS = [
  "Shortest program",
  "Common variations",
  "Promise under faults",
  "Cost",
  "Limits",
  "Common mistakes",
  "Options",
];
const structures = pages().filter((page) => page.startsWith("docs/structures/"));

describe.each(structures)("%s", (page) => {
  test("has the headings of every page on a structure, in their order", () => {
    const headings = [...textOf(page).matchAll(/^## (.*)$/gm)].map(([, text]) => text);
    expect(headings).toEqual(HEADINGS);
  });
});

test("there is a page for each structure", () => {
  expect(structures.length).toBe(13);
});
