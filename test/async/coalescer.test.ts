import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Coalescer } from "../../src/base/async/coalescer.ts";
import { afterGathering, atTurnsEnd, type Schedule } from "../../src/base/async/gathering.ts";

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** A coalescer of numbers whose scheduled flushes run when the test calls them. */
function stage(onSend: (batch: number[], coalescer: Coalescer<number[]>) => void = () => {}) {
  const sent: number[][] = [];
  const scheduled: (() => void)[] = [];
  const coalescer: Coalescer<number[]> = new Coalescer({
    schedule: (flush) => scheduled.push(flush),
    begin: () => [],
    send: (batch) => {
      sent.push(batch);
      onSend(batch, coalescer);
    },
  });
  return { coalescer, sent, scheduled };
}

describe("a coalescer", () => {
  test("sends the items of a batch once, in order", () => {
    const { coalescer, sent, scheduled } = stage();
    for (const item of [1, 2, 3]) coalescer.open().push(item);
    expect([sent, scheduled.length]).toEqual([[], 1]);
    for (const flush of scheduled) flush();
    coalescer.flush();
    expect(sent).toEqual([[1, 2, 3]]);
  });

  test("schedules one flush per batch", () => {
    const { coalescer, sent, scheduled } = stage();
    coalescer.open().push(1);
    coalescer.flush();
    coalescer.open().push(2);
    expect([sent, scheduled.length]).toEqual([[[1]], 2]);
  });

  test("sends a full batch at once and the rest with the first scheduled flush", () => {
    const { coalescer, sent, scheduled } = stage();
    for (const item of [1, 2, 3, 4, 5]) {
      const batch = coalescer.open();
      batch.push(item);
      if (batch.length === 2) coalescer.flush();
    }
    expect(sent).toEqual([
      [1, 2],
      [3, 4],
    ]);
    scheduled[0]!();
    expect(sent[2]).toEqual([5]);
    for (const flush of scheduled) flush();
    expect(sent).toHaveLength(3);
  });

  test("puts an item that is added during a send into the next batch", () => {
    const { coalescer, sent, scheduled } = stage(([first]) => {
      if (first === 1) coalescer.open().push(2);
    });
    coalescer.open().push(1);
    scheduled[0]!();
    expect([sent, scheduled.length]).toEqual([[[1]], 2]);
    scheduled[1]!();
    expect(sent).toEqual([[1], [2]]);
  });

  test("continues after a send that throws", () => {
    const { coalescer, sent } = stage(([first]) => {
      if (first === 1) throw new Error("refused");
    });
    coalescer.open().push(1);
    expect(coalescer.flush).toThrow("refused");
    coalescer.open().push(2);
    coalescer.flush();
    expect(sent).toEqual([[1], [2]]);
  });

  test("calls the schedule without an object, as queueMicrotask needs it in Workers and browsers", () => {
    const receivers: unknown[] = [];
    function schedule(this: unknown) {
      receivers.push(this);
    }
    new Coalescer<number[]>({ schedule, begin: () => [], send: () => {} }).open();
    expect(receivers).toEqual([undefined]);
  });

  test("starts no batch if the schedule throws", () => {
    let isBroken = true;
    const sent: number[][] = [];
    const schedule: Schedule = () => {
      if (isBroken) throw new Error("no timers");
    };
    const coalescer = new Coalescer<number[]>({ schedule, begin: () => [], send: (batch) => sent.push(batch) });
    expect(() => coalescer.open()).toThrow("no timers");
    isBroken = false;
    coalescer.flush();
    expect(sent).toEqual([]);
    coalescer.open().push(1);
    coalescer.flush();
    expect(sent).toEqual([[1]]);
  });

  test("sends one batch at a time if only the end of a send flushes the next one", async () => {
    const log: string[] = [];
    let isSending = false;
    const coalescer = new Coalescer<number[]>({
      schedule: (flush) => isSending || queueMicrotask(flush),
      begin: () => [],
      send: async (batch) => {
        isSending = true;
        log.push(`begin ${batch}`);
        await nextTurn();
        log.push(`end ${batch}`);
        isSending = false;
        coalescer.flush();
      },
    });
    for (const item of [1, 2]) coalescer.open().push(item);
    await Promise.resolve();
    for (const item of [3, 4]) coalescer.open().push(item);
    expect(log).toEqual(["begin 1,2"]);
    await nextTurn();
    await nextTurn();
    expect(log).toEqual(["begin 1,2", "end 1,2", "begin 3,4", "end 3,4"]);
  });

  test.each<[string, Schedule]>([
    ["atTurnsEnd", atTurnsEnd],
    ["afterGathering", afterGathering],
    ["process.nextTick", process.nextTick],
  ])("with %s sends the items of one turn together", async (_, schedule) => {
    const sent: number[][] = [];
    const coalescer = new Coalescer<number[]>({ schedule, begin: () => [], send: (batch) => sent.push(batch) });
    for (const item of [1, 2]) coalescer.open().push(item);
    expect(sent).toEqual([]);
    await nextTurn();
    coalescer.open().push(3);
    await nextTurn();
    expect(sent).toEqual([[1, 2], [3]]);
  });
});

type Step = { item: number; addsMore: boolean; fails: boolean } | "flush" | "scheduled";
const steps = fc.array(
  fc.oneof(
    fc.record({ item: fc.nat(99), addsMore: fc.boolean(), fails: fc.boolean() }),
    fc.constantFrom<Step>("flush", "scheduled"),
  ),
  { maxLength: 60 },
);

/** A send adds `item + MORE` for some items of its batch. */
const MORE = 100;
const isNotEmpty = (batch: readonly number[]) => batch.length > 0;

/** The expected batches: the list of all items, cut at each flush. The flush of a batch may come after another sent it. */
function modelOf(program: readonly Step[], bound: number): number[][] {
  const cuts: number[][] = [[]];
  const due: number[] = [];
  let begun = 0;
  const put = (item: number) => {
    if (cuts.at(-1)!.length === 0) due.push(begun++);
    cuts.at(-1)!.push(item);
  };
  const cut = (adds: ReadonlySet<number>) => {
    const batch = cuts.at(-1)!;
    if (batch.length === 0) return;
    cuts.push([]);
    for (const item of batch) if (adds.has(item)) put(item + MORE);
  };
  const adds = new Set<number>();
  for (const step of program)
    if (step === "flush") cut(adds);
    else if (step === "scheduled") {
      if (due.shift() !== undefined) cut(adds);
    } else {
      if (step.addsMore) adds.add(step.item);
      put(step.item);
      if (cuts.at(-1)!.length >= bound) cut(adds);
    }
  return cuts;
}

test("random programs send the same batches as the model, whatever a send adds or throws", () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 5 }), (program, bound) => {
      const [adds, failing] = [new Set<number>(), new Set<number>()];
      const { coalescer, sent, scheduled } = stage((batch) => {
        for (const item of batch) if (adds.has(item)) coalescer.open().push(item + MORE);
        if (batch.some((item) => failing.has(item))) throw new Error("refused");
      });
      const flush = (run: (() => void) | undefined) => {
        try {
          run?.();
        } catch (error) {
          expect(error).toEqual(new Error("refused"));
        }
      };
      for (const step of program)
        if (step === "flush") flush(coalescer.flush);
        else if (step === "scheduled") flush(scheduled.shift());
        else {
          if (step.addsMore) adds.add(step.item);
          if (step.fails) failing.add(step.item);
          const batch = coalescer.open();
          batch.push(step.item);
          if (batch.length >= bound) flush(coalescer.flush);
        }
      const batches = [...sent, coalescer.open()];
      expect(batches.filter(isNotEmpty)).toEqual(modelOf(program, bound).filter(isNotEmpty));
    }),
    { numRuns: 500 },
  );
});
