import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HEADER_BYTES } from "../../../src/engine/journal/format/chunk.ts";
import { constants } from "../../../src/engine/journal/format/constants.ts";
import { QueryPlan } from "../../../src/engine/series/session/query-plan.ts";

const { requestBytes } = constants;

/** A question after a pause, of a window that reaches back, while the journal grows evenly. */
interface Question {
  pauseMs: number;
  bytesPerMs: number;
  reachMs: number;
}

interface Costs {
  planned: number;
  copies: number;
  outlines: number;
}

/** The span of a copy. */
interface Copied {
  fromMs: number;
  toMs: number;
}

/** From a window to its outlines: a sixth of it, and 20 kB of the open chunk. */
const outlineBytes = (windowBytes: number) => Math.min(windowBytes, 20_000 + windowBytes / 6);

/** Plays the questions by the plan, and by each way alone. A cost is bytes, with those of requests. */
function play(trace: readonly Question[]): Costs {
  const plan = new QueryPlan();
  const costs: Costs = { planned: 0, copies: 0, outlines: 0 };
  let nowMs = 1e12;
  let ours: Copied | undefined;
  let kept: Copied | undefined;
  for (const { pauseMs, bytesPerMs, reachMs } of trace) {
    nowMs += pauseMs;
    const fromMs = nowMs - reachMs;
    const copyCost = (copy: Copied | undefined) => {
      const oldMs = copy ? Math.max(0, Math.min(copy.toMs, nowMs) - Math.max(copy.fromMs, fromMs)) : 0;
      return requestBytes + bytesPerMs * (reachMs - oldMs);
    };
    const extended = (copy: Copied | undefined): Copied =>
      copy && copy.toMs >= fromMs ? { fromMs: Math.min(copy.fromMs, fromMs), toMs: nowMs } : { fromMs, toMs: nowMs };
    const windowBytes = bytesPerMs * reachMs;
    const outlineCost = outlineBytes(windowBytes) + 2 * requestBytes;
    costs.copies += copyCost(kept);
    kept = extended(kept);
    costs.outlines += outlineCost;
    const heldShare = ours ? Math.min(1, (nowMs - ours.fromMs) / reachMs) : 0;
    const held = { nowMs, reachMs, heldShare, ageMs: nowMs - (ours?.toMs ?? 0) };
    const isPreferred = plan.choose(held, 1) === "outlines";
    // A copy that does not pay any more is used once more, so that it is compared with the journal.
    const isDropped = isPreferred && ours !== undefined;
    if (isPreferred && !ours) {
      costs.planned += outlineCost;
      plan.spent(outlineBytes(windowBytes), 2, windowBytes, false);
      plan.outlined(held);
    } else {
      costs.planned += copyCost(ours);
      ours = isDropped ? undefined : extended(ours);
      plan.copied(held);
    }
    plan.see({ header: { createdMs: nowMs - 2000 } as never, length: HEADER_BYTES + 2000 * bytesPerMs, nowMs });
  }
  return costs;
}

const repeated = (count: number, question: Question) => Array.from({ length: count }, () => question);
const ratioOf = ({ planned, copies, outlines }: Costs) => planned / Math.min(copies, outlines);

describe("the plan of a process's queries", () => {
  const QUIET = { bytesPerMs: 0.1, reachMs: 20_000_000 };
  test.each<[string, Question[]]>([
    ["one query", [{ pauseMs: 0, ...QUIET }]],
    ["one query a second", repeated(600, { pauseMs: 1000, ...QUIET })],
    ["one query an hour", repeated(24, { pauseMs: 3_600_000, bytesPerMs: 4, reachMs: 500_000 })],
    [
      "bursts",
      Array.from({ length: 20 }, (_, i) => repeated(40, { pauseMs: i === 0 ? 600_000 : 10, ...QUIET })).flat(),
    ],
    ["a tiny window, often", repeated(300, { pauseMs: 100, bytesPerMs: 1, reachMs: 5000 })],
    ["a huge window, rarely", repeated(30, { pauseMs: 60_000, bytesPerMs: 400, reachMs: 60_000 })],
    ["a fast writer, a query a minute", repeated(60, { pauseMs: 60_000, bytesPerMs: 2000, reachMs: 4500 })],
    ["a fast writer, a query a second", repeated(600, { pauseMs: 1000, bytesPerMs: 400, reachMs: 60_000 })],
    [
      "a span that grows",
      Array.from({ length: 400 }, (_, i) => ({ pauseMs: 1000, bytesPerMs: 10, reachMs: 1000 * (i + 1) })),
    ],
    [
      "many spans",
      Array.from({ length: 400 }, (_, i) => ({
        pauseMs: 500,
        bytesPerMs: 10,
        reachMs: [1000, 60_000, 600_000][i % 3]!,
      })),
    ],
  ])("costs at most 1.3 times the better way: %s", (_name, trace) => {
    expect(ratioOf(play(trace))).toBeLessThanOrEqual(1.3);
  });

  test("costs at most three times the better way and the first answer, whatever is asked next", () => {
    const question = fc.record({
      pauseMs: fc.constantFrom(1, 100, 1000, 60_000, 3_600_000),
      bytesPerMs: fc.constantFrom(0.1, 10, 1000),
      reachMs: fc.constantFrom(100, 60_000, 3_600_000),
    });
    // One rate and one window, so that what the plan learns is what comes next.
    const trace = fc.tuple(question, fc.array(fc.constantFrom(1, 100, 1000, 60_000, 3_600_000), { minLength: 1 }));
    fc.assert(
      fc.property(trace, ([one, pauses]) => {
        const costs = play(pauses.map((pauseMs) => ({ ...one, pauseMs })));
        const first = outlineBytes(one.bytesPerMs * one.reachMs) + 2 * requestBytes;
        expect(costs.planned).toBeLessThanOrEqual(3 * Math.min(costs.copies, costs.outlines) + first);
      }),
      { numRuns: 2000 },
    );
  });

  test("says what it would do", () => {
    const plan = new QueryPlan();
    const nothing = { nowMs: 0, reachMs: 1000, heldShare: 0, ageMs: Number.POSITIVE_INFINITY };
    const unknown = { plan: "outlines", copyBytes: undefined, outlineBytes: 4 * requestBytes, regretBytes: 0 };
    expect(plan.report(nothing)).toEqual(unknown);
    const ask = () => {
      plan.spent(20_000, 2, 50_000, false);
      plan.outlined(nothing);
    };
    ask();
    const outlines = 20_000 + 2 * requestBytes;
    // A process with a copy would have read the window at first.
    const known = { plan: "outlines", copyBytes: 50_000 + requestBytes, outlineBytes: outlines, regretBytes: 0 };
    expect(plan.report(nothing)).toEqual(known);
    ask();
    expect(plan.report(nothing)).toMatchObject({ regretBytes: outlines - requestBytes, plan: "copy" });
    plan.spent(20_000, 2, 50_000, true);
    expect(plan.report(nothing).plan).toBe("outlines"); // there is no room for a copy
    plan.spent(20_000, 2, 50_000, false);
    plan.copied(nothing);
    expect(plan.report({ ...nothing, heldShare: 1, ageMs: 0 })).toMatchObject({
      plan: "copy",
      copyBytes: requestBytes,
    });
  });
});
