import type { Handle } from "../handle.ts";
import { law } from "../subject.ts";
import { CALM } from "../world/network.ts";
import { chunkOf, isServerClock, type Local, type Mutation, repeats, repeatsTooLate } from "./mutation.ts";

interface Append {
  voidAfterMs: number;
  frames: readonly { bytes: Uint8Array }[];
}

/** Puts in place of an append's time one that is never void, where `isTaken` says so. */
function taken(isTaken: (input: Append, nowMs: number, stampMs: number, handle: Handle) => boolean) {
  return (real: Local, handle: Handle): Local =>
    (keys, key, input: Append, nowMs) => {
      const stampMs = Math.max(nowMs, chunkOf(keys, key)?.header.lastStampMs ?? 0);
      const voidAfterMs = isTaken(input, nowMs, stampMs, handle) ? stampMs : input.voidAfterMs;
      return real(keys, key, { ...input, voidAfterMs } as never, nowMs);
    };
}

/** When the first copy of a frame came, by the monotonic clock of the process that sent it. */
const firstMs = new WeakMap<Handle, Map<string, number>>();

/** As a process concludes that measures by its own clock how long its request was under way. */
function looksLate({ frames, voidAfterMs }: Append, nowMs: number, stampMs: number, handle: Handle): boolean {
  const seen = firstMs.get(handle) ?? new Map<string, number>();
  firstMs.set(handle, seen);
  const name = frames[0]!.bytes.slice(4, 12).join();
  const elsewhereMs = handle.process.monotonic();
  if (!seen.has(name)) seen.set(name, elsewhereMs);
  return stampMs > voidAfterMs && nowMs - (elsewhereMs - seen.get(name)!) - 1000 > voidAfterMs;
}

/** Rules about when an append is void. */
export const VOID_MUTATIONS: readonly Mutation[] = [
  {
    rule: "an append is void after 10 s: never",
    suits: repeatsTooLate,
    operation: { name: "journal/append", local: taken(() => true) },
  },
  {
    rule: "what is void may have counted: not where the process's clock says that it was always late",
    conditions: { isPlain: false, visitorCount: 2, freezes: 0.2, hasDeletes: false, clock: "server" },
    operation: { name: "journal/append", local: taken(looksLate) },
  },
  {
    rule: "an append is void by the stamp that it would get: by the server's clock",
    suits: (plan) => repeats(plan) && isServerClock(plan),
    conditions: { stepsBetween: 0.5, clockSteps: 20, largestStepMs: 60_000, retentionMs: 70_000, hasDeletes: false },
    operation: { name: "journal/append", local: taken(({ voidAfterMs }, nowMs) => nowMs <= voidAfterMs) },
  },
  {
    rule: "an append is void before its time too: it is not",
    suits: isServerClock,
    // A journal that rests for long, and processes that know the server's time from before its clock fell back.
    conditions: {
      isPlain: false,
      weather: { ...CALM, lostReply: 0.5 },
      writerCount: 2,
      visitorCount: 0,
      paceMs: 30_000,
      durationMs: 300_000,
      retentionMs: 150_000,
      largerRetentionMs: 150_000,
      stepsBetween: 0.5,
      clockSteps: 10,
      largestStepMs: 60_000,
      hasDeletes: false,
    },
    operation: {
      name: "journal/append",
      local: taken(({ voidAfterMs }, _nowMs, stampMs) => stampMs <= voidAfterMs - law.dedupeMs),
    },
  },
];
