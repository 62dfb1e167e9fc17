// The judge of the storms finds what was lost, doubled and let through, in journals with planted faults. A small storm runs whole.
import { describe, expect, it } from "vitest";
import { type Entry, lateWritesOf, messagesOf, mostWithin } from "../../bench/storms/judge.ts";
import { benchStorms, SMALL_STORMS } from "../../bench/storms/storms.ts";

const admitted = (fromMs: number, toMs = fromMs + 1): Entry => ({ kind: "admitted", fromMs, toMs });

describe("mostWithin", () => {
  it("counts calls whose question and answer lie in one span", () => {
    const even = Array.from({ length: 100 }, (_, i) => admitted(i * 25)); // 40 a second
    expect(mostWithin(even, 1000)).toBe(40);
    expect(mostWithin([...even, admitted(500.5)], 1000)).toBe(41);
  });

  it("is never more than the truth: a call that was long on its way may have been admitted outside", () => {
    expect(mostWithin([admitted(0, 2000), admitted(1000), admitted(1001)], 1000)).toBe(2);
    expect(mostWithin([], 1000)).toBe(0);
  });
});

describe("messagesOf", () => {
  const right: Entry[] = [
    { kind: "added", id: "a", dueMs: 100 },
    { kind: "begun", id: "a", atMs: 100 },
    { kind: "handled", id: "a", atMs: 125 },
  ];

  it("finds nothing where each message was handled once", () => {
    expect(messagesOf(right)).toEqual({ added: 1, lost: 0, doubled: 0, early: 0 });
  });

  it.each<[string, Entry[], object]>([
    ["a lost one", [{ kind: "added", id: "b", dueMs: 1 }], { lost: 1 }],
    [
      "one that was begun and never ended",
      [
        { kind: "added", id: "b", dueMs: 1 },
        { kind: "begun", id: "b", atMs: 2 },
      ],
      { lost: 1 },
    ],
    ["one handled twice", [{ kind: "handled", id: "a", atMs: 300 }], { doubled: 1 }],
    ["an early one", [{ kind: "begun", id: "a", atMs: 90 }], { early: 1 }],
  ])("finds %s", (_name, planted, found) => {
    expect(messagesOf([...right, ...planted])).toMatchObject(found);
  });

  it("says nothing of a message whose adding was not acknowledged", () => {
    const handled: Entry = { kind: "handled", id: "b", atMs: 5 };
    expect(messagesOf([...right, handled, handled])).toEqual({ added: 1, lost: 0, doubled: 0, early: 0 });
  });
});

describe("lateWritesOf", () => {
  const entered = (hold: string, atMs: number): Entry => ({ kind: "entered", hold, atMs });
  const wrote = (hold: string, atMs: number, fence: number | null = null): Entry => ({
    kind: "wrote",
    hold,
    atMs,
    fence,
  });

  it("finds nothing where holders follow each other", () => {
    const entries = [entered("a", 0), wrote("a", 10, 1), entered("b", 20), wrote("b", 30, 2)];
    expect(lateWritesOf(entries)).toEqual({ writes: 2, late: 0, refused: 0 });
  });

  it("finds a write after a later holder has entered, whose fence the database refuses", () => {
    const entries = [entered("a", 0), wrote("a", 10, 1), entered("b", 20), wrote("b", 30, 2), wrote("a", 40, 1)];
    expect(lateWritesOf(entries)).toEqual({ writes: 3, late: 1, refused: 1 });
  });

  it("finds one without a fence, and one that comes before the later holder has written", () => {
    const entries = [entered("a", 0), entered("b", 20), wrote("a", 25), wrote("b", 30), wrote("a", 40)];
    expect(lateWritesOf(entries)).toEqual({ writes: 3, late: 2, refused: 0 });
    expect(lateWritesOf([entered("a", 0), entered("b", 20), wrote("a", 25, 1)]).refused).toBe(0);
  });
});

it("a storm of each fault over the locks writes journals that are judged", async () => {
  const { rows } = await benchStorms(SMALL_STORMS);
  const own = rows.filter(({ contender }) => contender === "oriel");
  expect(rows.length).toBe(6);
  for (const { of } of rows) expect(of).toBeGreaterThan(0);
  expect(own.find(({ fault }) => fault === "late writes that a fence lets through")?.count).toBe(0);
});
