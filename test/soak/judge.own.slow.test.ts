import { describe, expect, it } from "vitest";
import type { ChunkHeader } from "../../src/engine/journal/format/chunk.ts";
import { judgeKey } from "./keys.ts";
import { SoakLedger } from "./ledger.ts";
import { excess, growth } from "./memory/memory.ts";
import { eventOf, retentionMsOf } from "./plan.ts";

const MS = 1_000_000;

/** Numbers 10 to 13 of one process: acknowledged, acknowledged, refused, and lost with the process. */
function handedIn(): SoakLedger {
  const ledger = new SoakLedger(2);
  ledger.sent(7, 0, MS, [0, 10, 2, 0, 12, 1]);
  ledger.done(7, 0, MS + 5, "an");
  ledger.sent(7, 1, MS + 10, [0, 13, 1]);
  ledger.ended(7, MS + 20);
  return ledger;
}
const judged = (found: number[], fromMs = MS - 5000, toMs = MS + 30_000) =>
  handedIn()
    .judge(0, found, fromMs, toMs)
    .map((text) => text.replace(/^.*: /, ""));

describe("the judge of a window", () => {
  it("accepts acknowledged events, once, with or without unknown ones", () => {
    expect(judged([10, 11])).toEqual([]);
    expect(judged([13, 11, 10])).toEqual([]);
  });
  it("finds events that are missing, doubled, refused, or unknown", () => {
    expect(judged([10])).toEqual(["11 was acknowledged and is missing"]);
    expect(judged([10, 11, 10])).toEqual(["10 is there twice"]);
    expect(judged([10, 11, 13, 13])).toEqual(["13 is there twice"]);
    expect(judged([10, 11, 12])).toEqual(["12 was refused as not applied, and is there"]);
    expect(judged([10, 11, 14])).toEqual(["14 was never sent, or left the window long ago"]);
  });
  it("checks the window's edges, as exactly as the clocks allow", () => {
    expect(judged([], MS + 500)).toEqual([]);
    expect(judged([10, 11], MS + 500)).toEqual([]);
    expect(judged([10, 11], MS + 2000)).toEqual(["10 is older than the window", "11 is older than the window"]);
    expect(judged([13], MS + 2000)).toEqual([]);
    expect(judged([10], MS - 9000, MS - 2000)).toEqual(["10 is younger than the window"]);
  });
  it("counts each event once, whatever reads it", () => {
    const ledger = handedIn();
    for (const toMs of [MS + 6000, MS + 7000]) expect(ledger.judge(0, [10, 11], MS - 5000, toMs)).toEqual([]);
    expect(ledger.judge(0, [], MS + 20_000, MS + 30_000)).toEqual([]);
    ledger.close();
    const { acknowledged, refused, unknown, judged: seen, unread } = ledger;
    expect({ acknowledged, refused, unknown, seen, unread }).toEqual({
      acknowledged: 2,
      refused: 1,
      unknown: 1,
      seen: 2,
      unread: 0,
    });
  });
});

describe("the judge of a key", () => {
  const header = { number: 5, chunkMs: 1000, lastStampMs: MS, retentionMs: retentionMsOf(1) } as ChunkHeader;
  const expiryMs = MS + retentionMsOf(1) + 1000 + 60_000;

  it("requires each to expire when its last event can be in no window any more", () => {
    expect(judgeKey("oriel:{soak:1}", expiryMs, header)).toEqual([]);
    expect(judgeKey("oriel:{soak:1}:5", expiryMs, header)).toEqual([]);
    expect(judgeKey("oriel:{soak:1}:5", expiryMs + 700, header)).toEqual([]);
  });
  it("finds keys that never expire, expire sooner or later, or are of no series", () => {
    expect(judgeKey("oriel:{soak:1}", -1, header)).toEqual(["oriel:{soak:1} never expires"]);
    for (const wrong of [-1, 1])
      expect(judgeKey("oriel:{soak:1}", expiryMs + wrong, header)).toEqual([
        `oriel:{soak:1} expires at ${expiryMs + wrong}, not at ${expiryMs}`,
      ]);
    expect(judgeKey("oriel:{soak:1}:6", expiryMs, header)).toEqual(["oriel:{soak:1}:6 holds chunk 5"]);
    expect(judgeKey("oriel:{soak:2}", expiryMs, header).length).toBe(1);
    expect(judgeKey("left:over", expiryMs, header)).toEqual(["left:over is no key of a series"]);
  });
});

describe("the judge of memory", () => {
  const samples = (mibs: number[]) => mibs.map((each, i) => ({ atMs: i, bytes: each * 2 ** 20, things: i }));

  it("accepts memory that levels off, and single peaks", () => {
    expect(growth("it", samples([1, 50, 90, 100, 101, 99, 104, 190, 102]), 0)).toEqual([]);
  });
  it("accepts memory that grows with the data", () => {
    const rising = samples([10, 20, 30, 40, 50, 60, 70, 80, 90]);
    expect(growth("it", rising, 10 * 2 ** 20)).toEqual([]);
    expect(growth("it", rising, 2 ** 20).length).toBe(1);
  });
  it("finds memory that keeps growing, was hardly measured, or is above its bound", () => {
    const rising = samples([10, 20, 30, 40, 50, 60, 70, 80, 90]);
    expect(growth("it", rising, 0)).toEqual(["it grew from 50.0 MiB to 80.0 MiB"]);
    expect(growth("it", samples([1, 2]), 0)).toEqual(["it: 2 samples are too few"]);
    expect(excess("it", rising, 80 * 2 ** 20)).toEqual(["it held 90.0 MiB; the bound is 80.0 MiB"]);
    expect(excess("it", rising, 90 * 2 ** 20)).toEqual([]);
  });
});

it("every event of a series has a distinct number, also as float32", () => {
  expect(new Set([eventOf(3, 1), eventOf(3, 2), eventOf(4, 1)]).size).toBe(3);
  expect(Math.fround(eventOf(511, 2 ** 15 - 1))).toBe(eventOf(511, 2 ** 15 - 1));
  expect(() => eventOf(512, 0)).toThrow(RangeError);
  expect(() => eventOf(0, 2 ** 15)).toThrow(RangeError);
});
