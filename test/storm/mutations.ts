import { OrielError } from "../../src/entries/index.ts";
import { MODE } from "../../src/generated/layouts/limiter.ts";
import type { Answer, Ticket } from "../../src/holds/steps/state.ts";
import { leave, look, renew, take } from "../../src/holds/steps/steps.ts";
import type { FlushReply, FlushRequest } from "../../src/limits/breaker/flush-format.ts";
import { flush as fleetFlush } from "../../src/metrics/fleet/flush.ts";
import type { Operation, Store, WatchedStore } from "../../src/store/contract.ts";
import type { Change } from "./storm.ts";

/** Broken behaviours of a store, and the structures whose books must reveal each. */
export interface Mutation {
  change: Change;
  seenBy: readonly string[];
}

/** The steps whose answers acknowledge something. */
const ACKNOWLEDGES =
  /^(journal\/(append|append-cold|record)|locked-window\/locked-write|counter\/add|queue\/add|fleet\/flush)$/;
const EVERY = 5;

function every(broken: (run: () => Promise<unknown>, last: unknown) => Promise<unknown>): Change {
  return (store) => {
    const last = new Map<string, unknown>();
    let count = 0;
    const changed = Object.create(store) as typeof store;
    changed.run = (async (operation, key, input, options) => {
      const run = () => store.run(operation, key, input, options);
      const { name } = operation;
      if (!ACKNOWLEDGES.test(name)) return run();
      const answer = last.has(name) && ++count % EVERY === 0 ? await broken(run, last.get(name)) : await run();
      last.set(name, answer);
      return answer;
    }) as Store["run"];
    return changed;
  };
}

type Broken = (run: (input: unknown) => Promise<unknown>, input: never, store: Store, key: string) => Promise<unknown>;

/** One of a number of runs of a step goes through `broken`, which two processes share. */
function breaking(step: string, times: number, broken: Broken): Change {
  let count = 0;
  return (store) => {
    const changed = Object.create(store) as WatchedStore;
    changed.run = (async (operation: Operation<unknown, unknown>, key: string, input, options) => {
      const run = (given: unknown) => store.run(operation, key, given, options);
      if (operation.name !== step || ++count % times !== 0) return run(input);
      return broken(run, input as never, store, key);
    }) as Store["run"];
    return changed;
  };
}

interface Take {
  process: string;
  tickets: readonly Ticket[];
}

/** Of a process that waits for each lock, and never asks again. */
const DEAD = { process: "d".repeat(14), token: "d".repeat(20) };

export const mutations: Record<string, Mutation> = {
  "a step is not run, and answered as the last one": {
    change: every(async (_run, last) => last),
    seenBy: ["series", "locked window", "counters", "queue", "drain"],
  },
  "a step is run, and said to be refused": {
    change: every(async (run) => {
      await run();
      throw new OrielError("UNAVAILABLE", "on purpose", { transient: true, applied: "no" });
    }),
    seenBy: ["series", "locked window", "counters", "queue", "drain"],
  },
  "a limiter lets pass and writes nothing": {
    change: breaking("limiter/decide", EVERY, (run, input: object) => run({ ...input, mode: MODE.peek })),
    seenBy: ["limiter"],
  },
  "a lock is taken from the one that has it": {
    change: breaking("hold/take", 1, async (run, input: Take, store, key) => {
      const answer = (await run(input)) as Answer;
      if (answer.granted.length > 0) return answer;
      const { holds } = await store.run(look, key, undefined);
      const { process } = input;
      for (const { token } of holds) await store.run(leave, key, { process, token, number: undefined });
      return run(input);
    }),
    seenBy: ["lock"],
  },
  "the release of a lock also ends the next hold": {
    change: breaking("hold/leave", 1, async (run, input: { process: string }, store, key) => {
      const own = (await run(input)) as Answer;
      const next = (await store.run(look, key, undefined)).holds[0];
      if (!next) return own;
      const after = (await run({ ...input, token: next.token, number: undefined })) as Answer;
      return { ...after, isReleased: own.isReleased, granted: [...own.granted, ...after.granted] };
    }),
    seenBy: ["lock"],
  },
  "the numbers of holds do not rise": {
    change: breaking("hold/take", EVERY, async (run, input) => {
      const answer = (await run(input)) as Answer;
      return { ...answer, granted: answer.granted.map((each) => ({ ...each, number: 1 })) };
    }),
    seenBy: ["lock"],
  },
  "the trial of a dead process never ends": {
    change: breaking("hold/take", 1, async (run, input, store, key) => {
      const ticket = { token: DEAD.token, permits: 1, limit: 1, leaseMs: 10 };
      await store.run(take, key, { process: DEAD.process, tickets: [ticket], mayWait: true, isGuess: false });
      const { holds } = await store.run(look, key, undefined);
      for (const { token, isOnTrial } of holds)
        if (isOnTrial && token === DEAD.token) await store.run(renew, key, { token, leaseMs: 600_000 });
      return run(input);
    }),
    seenBy: ["lock"],
  },
  "a breaker grants every probe that is asked for": {
    change: breaking("breaker/flush", 1, async (run, input: FlushRequest) => {
      const answer = (await run(input)) as FlushReply;
      return { ...answer, granted: input.wanted };
    }),
    seenBy: ["breaker"],
  },
  "a fleet adds a batch twice": {
    change: breaking("fleet/flush", EVERY, async (run, input: object, store, key) => {
      await store.run(fleetFlush, key, { ...input, sender: "another!" } as never);
      return run(input);
    }),
    seenBy: ["fleet"],
  },
  "a message is due when it is added": {
    change: breaking("queue/add", EVERY, (run, input: { messages: object[] }) =>
      run({ ...input, messages: input.messages.map((message) => ({ ...message, when: { delayMs: 0 } })) }),
    ),
    seenBy: ["queue"],
  },
};
