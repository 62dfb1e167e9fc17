import type { Keyspace } from "../../../src/store/contract.ts";
import type { Plan } from "../plan.ts";
import { CALM } from "../world/network.ts";
import { chunkOf, type Local, type Mutation } from "./mutation.ts";

/** Late copies of everything, of writers who go on after a deletion. */
const LATE_COPIES: Partial<Plan> = {
  isPlain: false,
  weather: { ...CALM, repeated: 0.4, repeatedLateMs: 8_000 },
  hasDeletes: true,
  paceMs: 200,
  writerCount: 4,
  durationMs: 60_000,
  failovers: 0,
};

/** Changes the header of the open chunk after a step. */
function withHeader(change: (chunk: NonNullable<ReturnType<typeof chunkOf>>) => void) {
  return (real: Local): Local =>
    (keys, key, input, nowMs) => {
      const answer = real(keys, key, input, nowMs);
      const chunk = chunkOf(keys, key);
      if (chunk) change(chunk);
      return answer;
    };
}

const withoutGuard = withHeader((chunk) => {
  chunk.header = { ...chunk.header, guardMs: 0 };
});

/** Rules about what a delete leaves. */
export const DELETE_MUTATIONS: readonly Mutation[] = [
  {
    rule: "a deletion takes the chunk that was seen: whichever is there",
    conditions: LATE_COPIES,
    operation: {
      name: "journal/delete",
      local: (real) => (keys, key, input: object, nowMs) =>
        real(keys, key, { ...input, birth: chunkOf(keys, key)?.header.birth } as never, nowMs),
    },
  },
  {
    rule: "a deletion leaves a guard: it leaves nothing",
    conditions: LATE_COPIES,
    operation: {
      name: "journal/delete",
      local: (real) => (keys: Keyspace, key, input: object, nowMs) =>
        real(keys, key, { ...input, isOpen: false } as never, nowMs),
    },
  },
  {
    rule: "a new beginning keeps the guard: it has none",
    conditions: LATE_COPIES,
    operation: { name: "journal/append", local: withoutGuard },
  },
  {
    rule: "the next chunk keeps the guard: it has none",
    conditions: {
      ...LATE_COPIES,
      sizes: { pageBytes: 1 << 20, rotateBytes: 600, appendBytes: 1 << 20, coldBytes: 1 << 20 },
    },
    operation: { name: "journal/rotate", local: withoutGuard },
  },
];
