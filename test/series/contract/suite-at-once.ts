import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { METHODS } from "../../../src/engine/kernel/percentile/percentile.ts";
import { Series } from "../../../src/entries/index.ts";
import { lateStore } from "../../harness/late-store.ts";
import { expectStats, inside } from "../../stats/oracle.ts";
import { NAME, type Stage } from "./stage.ts";

/** A random read of a window that has ended `endedMs` before the last event. */
interface Read {
  kind:
    | "stats"
    | "stats of a new process"
    | "merged"
    | "merged twice"
    | "timeline"
    | "timeline merged"
    | "values"
    | "fractionBelow"
    | "ranks"
    | "histogram"
    | "compare";
  /** The index of the reader. */
  reader: number;
  endedMs: number;
  spanMs: number;
  closed: "right" | "both";
  method: (typeof METHODS)[number];
}

/** A random call of `recordAndGet`. */
interface Call {
  value: number;
  spanMs: number;
  closed: "right" | "both";
  percentiles: readonly number[];
  /** Its own time, ms before now. */
  agoMs: number | undefined;
  hasSignal: boolean;
}

const calls = fc.array(
  fc.record<Call>({
    value: fc.integer({ min: -20, max: 20 }),
    spanMs: fc.constantFrom(1, 30, 31, 500, 60_000),
    closed: fc.constantFrom("right", "both"),
    percentiles: fc.constantFrom([99], [50], [99.9, 50], [0, 100], []),
    agoMs: fc.option(fc.nat(40), { nil: undefined, freq: 4 }),
    hasSignal: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
);

const READERS = 4;
const RECORDED_MS = 4000;

const reads = fc.array(
  fc.record<Read>({
    kind: fc.constantFrom(
      ...(["stats", "stats of a new process", "merged", "merged twice", "timeline", "timeline merged"] as const),
      ...(["values", "fractionBelow", "ranks", "histogram", "compare"] as const),
    ),
    reader: fc.nat(READERS - 1),
    endedMs: fc.nat(RECORDED_MS),
    spanMs: fc.integer({ min: 1, max: 2 * RECORDED_MS }),
    closed: fc.constantFrom("right", "both"),
    method: fc.constantFrom(...METHODS),
  }),
  { minLength: 2, maxLength: 8 },
);

/** A read alone and at once with other reads gives the same answer: nothing that one uses is overwritten by another. */
export function atOnceSuite(stage: () => Stage): void {
  describe("reads at once", () => {
    test("every read answers the same alone and at once with others, while other processes record", async () => {
      const { open, reader, clock, events, other } = stage();
      const first = open({ values: "float64" });
      const second = new Series(lateStore(other), `${NAME}:second`, { retention: "1m", values: "float64" });
      const fresh = () => {
        opened.push(reader());
        return opened.at(-1)!;
      };
      const opened: Series[] = [];
      // With a copy, from outlines at first, and over nodes that answer late.
      const readers = [
        first,
        reader(),
        reader(),
        new Series(lateStore(other), NAME, { ...stage().modes, retention: "1m", values: "float64" }),
      ];
      for (let i = 0; i < 80; i++) {
        const value = (i * 7919) % 1009;
        await Promise.all([stage().put(value, value + 0.25), second.record(2000 + value)]);
        clock.nowMs += RECORDED_MS / 80;
      }
      const endMs = clock.nowMs - 1;
      const ask = ({ kind, reader, endedMs, spanMs, closed, method }: Read): Promise<unknown> => {
        const one = readers[reader]!;
        const options = { at: endMs - endedMs, span: spanMs, closed };
        if (kind === "values") return one.values(options);
        if (kind === "fractionBelow") return one.fractionBelow(500, options);
        if (kind === "ranks") return one.ranks([700, 2, 500], options);
        if (kind === "histogram") return one.histogram({ ...options, bounds: [100, 500, 900.25] });
        const asked = { ...options, method, percentiles: [0, 12.5, 50, 99, 100] };
        const line = { ...asked, every: Math.max(1, Math.ceil(spanMs / 7)) };
        if (kind === "timeline") return one.timeline(line);
        if (kind === "timeline merged") return Series.timeline([one, second], { ...line, align: "every" });
        if (kind === "compare") return one.compare({ ...asked, before: 1 + (endedMs % 500) });
        if (kind === "stats") return one.stats(asked);
        if (kind === "stats of a new process") return fresh().stats(asked);
        return Series.stats(kind === "merged" ? [one, second] : [one, first], asked);
      };
      await fc.assert(
        fc.asyncProperty(reads, async (asked) => {
          const alone: unknown[] = [];
          for (const read of asked) alone.push(await ask(read));
          const recording = first.record(-1); // after every window
          const moving = readers.map((one) => one.stats({ span: 500 }));
          expect(await Promise.all(asked.map(ask))).toEqual(alone);
          await Promise.all([recording, ...moving]);
          clock.nowMs++;
          for (const [i, { kind, endedMs, spanMs, closed, method }] of asked.entries()) {
            if (kind !== "stats" && kind !== "stats of a new process") continue;
            const toMs = endMs - endedMs;
            const values = inside(events, toMs - spanMs, toMs, closed);
            expectStats(alone[i] as never, values, { method, percentiles: [0, 12.5, 50, 99, 100] });
          }
        }),
        { numRuns: 25 },
      );
      await Promise.all([second, ...opened].map((one) => one.close()));
    });

    test("every caller of recordAndGet gets an answer of its own to its own query, with the events of all callers", async () => {
      const { open, clock, events } = stage();
      const series = open({ values: "float64" });
      const { signal } = new AbortController();
      const callOf = async ({ value, spanMs, closed, percentiles, agoMs, hasSignal }: Call) => {
        const options = { span: spanMs, closed, percentiles, ...(hasSignal && { signal }) };
        return series.recordAndGet(value, agoMs === undefined ? options : { ...options, at: clock.nowMs - agoMs });
      };
      await fc.assert(
        fc.asyncProperty(fc.array(calls, { minLength: 1, maxLength: 4 }), async (turns) => {
          for (const asked of turns) {
            const answering = asked.map(callOf);
            events.push(...asked.map(({ value, agoMs = 0 }) => ({ t: clock.nowMs - agoMs, value })));
            const answers = await Promise.all(answering);
            for (const [i, { closed, percentiles }] of asked.entries()) {
              const answer = answers[i]!;
              expect(answer.to).toBe(clock.nowMs);
              expectStats(answer, inside(events, answer.from, answer.to, closed), { percentiles });
            }
            expect(new Set(answers).size).toBe(asked.length);
            expect(new Set(answers.map((answer) => answer.percentiles)).size).toBe(asked.length);
            clock.nowMs += 13;
          }
        }),
        { numRuns: 25 },
      );
    });
  });
}
