import type { Keyspace, Operation } from "../../src/store/contract.ts";
import { localFormOf } from "../../src/store/memory/memory.ts";
import type { Handle } from "./handle.ts";
import { DELETE_MUTATIONS } from "./mutations/delete-mutations.ts";
import { LAST_FRAME_MUTATIONS } from "./mutations/last-frame-mutations.ts";
import {
  chunkOf,
  failsOver,
  isServerClock,
  type Local,
  type Mutation,
  repeats,
  repeatsLate,
  repeatsTooLate,
} from "./mutations/mutation.ts";
import { SEAL_MUTATIONS } from "./mutations/seal-mutations.ts";
import { VOID_MUTATIONS } from "./mutations/void-mutations.ts";
import {
  closedKey,
  type Read,
  ruleOf,
  withoutAsking,
  withoutFoundBirths,
  withoutHeadCheck,
  withReadersSpan,
} from "./subject.ts";

export const MUTATIONS: readonly Mutation[] = [
  { rule: "readers recognise copies: never", suits: repeats, patch: withReadersSpan(0) },
  { rule: "readers remember frames for 20 s: for 1 s", suits: repeatsLate, patch: withReadersSpan(1_000) },
  ...VOID_MUTATIONS,
  ...LAST_FRAME_MUTATIONS,
  { rule: "a key outlives its events: 3 s less than its window", constants: { expirySlackMs: -3_000 } },
  {
    rule: "60 s of slack for events ahead of the clock: none",
    suits: (plan) => plan.hasOwnTimes && isServerClock(plan),
    constants: { expirySlackMs: 0 },
  },
  {
    rule: "events lie at most 60 s ahead: as far as they like",
    // Many small chunks: one that expires in its time holds an event that is still inside a window.
    conditions: {
      isPlain: false,
      modes: { onStoreError: "throw", replicas: 0 },
      clock: "server",
      hasOwnTimes: true,
      hasDeletes: false,
      durationMs: 150_000,
      retentionMs: 30_000,
      largerRetentionMs: 30_000,
      paceMs: 500,
      writerCount: 3,
      readerCount: 3,
      sizes: { pageBytes: 1 << 20, rotateBytes: 600, appendBytes: 1 << 20, coldBytes: 1 << 20 },
    },
    constants: { earlyMs: 600_000 },
  },
  {
    rule: "an older stretch is judged together with the newer: put before it as it is",
    suits: (plan) => plan.retentionMs > 100_000 && repeatsLate(plan) && !repeatsTooLate(plan),
    patch: withoutHeadCheck,
  },
  {
    rule: "rotation closes the chunk that was seen: whichever is open",
    suits: repeats,
    operation: {
      name: "journal/rotate",
      local: (real) => (keys, key, input: { number: number }, nowMs) => {
        const header = chunkOf(keys, key)?.header;
        if (!header) return real(keys, key, input as never, nowMs);
        const misnamed = (each: string) => (each === key ? key : closedKey(key, input.number));
        const through: Keyspace = {
          get: (each) => keys.get(misnamed(each)),
          find: (each) => keys.find(each),
          set: (each, value, sizeBytes, expireAtMs) => keys.set(misnamed(each), value, sizeBytes, expireAtMs),
          delete: (each) => keys.delete(misnamed(each)),
          publish: (...reported) => keys.publish(...reported),
        };
        return real(through, key, { ...input, number: header.number, birth: header.birth } as never, nowMs);
      },
    },
  },
  {
    rule: "time does not run back in a journal: stamps follow the clock",
    suits: ({ clockSteps }) => clockSteps >= 2,
    operation: {
      name: "journal/append",
      local: (real) => (keys, key, input, nowMs) => {
        const chunk = chunkOf(keys, key);
        if (chunk) chunk.header = { ...chunk.header, lastStampMs: Math.min(chunk.header.lastStampMs, nowMs) };
        return real(keys, key, input, nowMs);
      },
    },
  },
  {
    rule: "a raised retention is written down: the journal calls itself complete",
    suits: ({ isPlain }) => !isPlain,
    conditions: {
      clock: "server",
      durationMs: 160_000,
      retentionMs: 5_000,
      largerRetentionMs: 140_000,
      lateRetentionMs: 100_000,
      writerCount: 4,
      restMs: 0,
    },
    operation: {
      name: "journal/append",
      local: (real) => (keys, key, input, nowMs) => {
        const answer = real(keys, key, input, nowMs) as { header?: { completeSinceMs: number } };
        const chunk = chunkOf(keys, key);
        if (chunk) chunk.header = { ...chunk.header, completeSinceMs: Number.NEGATIVE_INFINITY };
        if (answer.header) answer.header.completeSinceMs = Number.NEGATIVE_INFINITY;
        return answer;
      },
    },
  },
  ...DELETE_MUTATIONS,
  {
    rule: "births must link from chunk to chunk: they all look alike to readers",
    suits: (plan) => failsOver(plan) || plan.hasDeletes,
    operation: {
      name: "journal/read",
      local: (real) => (keys, key, input: Read, nowMs) => {
        const chunk = chunkOf(keys, key);
        const seen = typeof input === "object" && chunk ? { ...input, birth: chunk.header.birth } : input;
        const answer = real(keys, key, seen as never, nowMs) as { header?: { birth: number; birthBefore: number } };
        if (answer.header) answer.header = { ...answer.header, birth: 7, birthBefore: answer.header.birthBefore && 7 };
        return answer;
      },
    },
  },
  {
    rule: "what a cold reader does not find it asks for by name: it takes it for gone",
    suits: ({ migrations }) => migrations > 0,
    conditions: { migrations: 6, hasDeletes: false, readerCount: 3 },
    patch: withoutAsking,
  },
  {
    rule: "what a cold reader finds has the birth that is named: it takes what it finds",
    suits: ({ migrations }) => migrations > 0,
    conditions: { migrations: 6, hasDeletes: false, readerCount: 3 },
    patch: withoutFoundBirths,
  },
  {
    rule: "a cold reader ends by looking at the open chunk again: it believes what it saw first",
    suits: (plan) => failsOver(plan) || plan.hasDeletes,
    conditions: {
      failovers: 40,
      readerCount: 3,
      paceMs: 200,
      durationMs: 60_000,
      sizes: { pageBytes: 1 << 20, rotateBytes: 600, appendBytes: 1 << 20, coldBytes: 0 },
    },
    operation: { name: "journal/read", local: blindAtTheEnd },
  },
  ...SEAL_MUTATIONS,
];

/** Answers a one-time reader's second look at the open chunk with what its first look found. */
function blindAtTheEnd(real: Local, handle: Handle): Local {
  return (keys, key, input: Read, nowMs) => {
    const answer = real(keys, key, input as never, nowMs) as { header?: unknown; length: number };
    if (handle.isKept || key.includes("}:")) return answer;
    const first = handle.firstLook as typeof answer | undefined;
    if (first === undefined || typeof input !== "object" || "spanMs" in input) handle.firstLook = answer;
    else if (input.length === first.length)
      return { ...first, continued: true, from: first.length, bytes: new Uint8Array(0) };
    return answer;
  };
}

/** The operation as the mutation would have it. */
export function mutated<I, O>(
  operation: Operation<I, O>,
  mutation: Mutation | undefined,
  handle: Handle,
): Operation<I, O> {
  if (mutation?.operation?.name !== ruleOf(operation.name)) return operation;
  const real = localFormOf(operation) as unknown as Local;
  return { ...operation, local: mutation.operation.local(real, handle) as unknown as Operation<I, O>["local"] };
}
