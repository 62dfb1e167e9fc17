// Each structure has three pages: one to begin with, one of its promises and costs for operators, and one of its calls.
import { expect, test } from "vitest";
import { pages, textOf } from "./blocks.ts";

const MAX_WORDS = 800;
/** Three screens. */
const MAX_LINES_ABOVE_OPTIONS = 100;
const BEGIN = ["Shortest program", "Options", "Common variations", "Common mistakes", "Read on"];
const PROMISES = ["Promise under faults", "Cost", "Limits"];

const namesOf = (folder: string) =>
  pages().flatMap((page) => (page.startsWith(`docs/${folder}/`) ? [page.slice(`docs/${folder}/`.length)] : []));
const headingsOf = (text: string) => [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading!);

test("there are three pages for each structure", () => {
  expect(namesOf("structures").length).toBe(15);
  for (const folder of ["promises", "reference"]) expect(namesOf(folder)).toEqual(namesOf("structures"));
});

test.each(namesOf("structures"))("%s is short enough to finish, with its options on the first screens", (name) => {
  const text = textOf(`docs/structures/${name}`);
  expect(headingsOf(text)).toEqual(BEGIN);
  expect(text.trim().split(/\s+/).length).toBeLessThanOrEqual(MAX_WORDS);
  expect(text.slice(0, text.indexOf("\n## Options")).split("\n").length).toBeLessThan(MAX_LINES_ABOVE_OPTIONS);
  expect(headingsOf(textOf(`docs/promises/${name}`))).toEqual(PROMISES);
  expect(headingsOf(textOf(`docs/reference/${name}`)).slice(0, 1)).toEqual(["Calls"]);
});
