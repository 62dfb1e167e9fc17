import { expect, test } from "vitest";
import { MAX_PROCESSES } from "../../../src/generated/layouts/breaker.ts";
import { flush } from "../../../src/limits/breaker/flush.ts";
import type { FlushReply } from "../../../src/limits/breaker/flush-format.ts";
import type { Rule } from "../../../src/limits/breaker/rule.ts";
import { onMemory, onRedis } from "../../harness/clock/stepped-stores.ts";

const TURN = 250;
const RULE: Rule = {
  ...{ spanMs: 60_000, tickMs: 1, minimumCalls: 10, failureRatio: 0.5 },
  ...{ slowRatio: Number.POSITIVE_INFINITY, failures: Number.POSITIVE_INFINITY },
  ...{ cooldownMs: 100, probes: 1, leaseMs: 100 },
  ...{ quorum: Number.POSITIVE_INFINITY, factor: 1, longestMs: 100, jitter: 0 },
};

test("both forms remember 10,000 processes, and each of more takes another's place", async () => {
  const opened = await Promise.all([onMemory(), onRedis()]);
  const answers: FlushReply[][] = [];
  for (const each of opened) {
    await each.clear();
    const own: FlushReply[] = [];
    const hand = (process: number, sequence: number, place = 0) => {
      const id = String(process).padStart(16, "p");
      const request = { rule: RULE, id, sequence, batch: [0, 1, 0, 0], place };
      return each.store.run(flush, "{breaker}", { ...request, settled: [], wanted: 0, first: 1 });
    };
    for (let process = 0; process < MAX_PROCESSES; process += TURN)
      own.push(...(await Promise.all(Array.from({ length: TURN }, (_, i) => hand(process + i, 1)))));
    expect(own.at(-1)).toMatchObject({ callers: MAX_PROCESSES, place: MAX_PROCESSES, calls: MAX_PROCESSES });
    // Known, with its place or without.
    expect(await hand(77, 1, 78)).toMatchObject({ callers: MAX_PROCESSES, calls: MAX_PROCESSES });
    expect(await hand(78, 1)).toMatchObject({ callers: MAX_PROCESSES, calls: MAX_PROCESSES });
    own.push(await hand(MAX_PROCESSES, 1));
    expect(own.at(-1)).toMatchObject({ callers: MAX_PROCESSES, calls: MAX_PROCESSES + 1 });
    // The one whose place it took is new again. Dead ones leave their places to others after a while.
    own.push(await hand(own.at(-1)!.place - 1, 1));
    expect(own.at(-1)).toMatchObject({ callers: MAX_PROCESSES, calls: MAX_PROCESSES + 2 });
    each.clock.nowMs += 200_000;
    own.push(await hand(MAX_PROCESSES + 1, 1));
    expect(own.at(-1)).toMatchObject({ callers: 1, calls: 1 });
    answers.push(own);
  }
  const [memory, redis] = answers;
  expect(redis!.map(({ place }) => place)).toEqual(memory!.map(({ place }) => place));
  await Promise.all(opened.map((each) => each.close()));
});
