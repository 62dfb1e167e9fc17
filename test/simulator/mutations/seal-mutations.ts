import type { Keyspace } from "../../../src/store/contract.ts";
import type { Plan } from "../plan.ts";
import {
  ChunkBytes,
  closedKey,
  withGapsCovered,
  withoutComparison,
  withoutEarlierNames,
  withoutMissingChunks,
  withoutSealedNames,
} from "../subject.ts";
import { CALM } from "../world/network.ts";
import { chunkOf, failsOver, type Mutation, repeats, repeatsLate } from "./mutation.ts";

interface Seal {
  bytes: Uint8Array;
  length: number;
  nextBirth: number;
}

const SMALL = { pageBytes: 1 << 20, rotateBytes: 600, appendBytes: 1 << 20, coldBytes: 1 << 20 };
const BUSY: Partial<Plan> = {
  sealerCount: 3,
  sealPaceMs: 100,
  sealThinkMs: 0,
  paceMs: 200,
  durationMs: 60_000,
  writerCount: 4,
};
const LOSING: Partial<Plan> = {
  ...BUSY,
  isPlain: false,
  modes: { onStoreError: "throw", replicas: 0 },
  clock: "server",
  weather: { ...CALM, repeated: 0.3, repeatedLateMs: 3_000, slow: 0.3, slowMs: 3_000 },
  failovers: 40,
  hasDeletes: false,
  hasOwnTimes: false,
  readerCount: 3,
  retentionMs: 15_000,
  largerRetentionMs: 15_000,
  sealThinkMs: 8_000,
};

const numberOf = ({ bytes }: Seal) => new DataView(bytes.buffer, bytes.byteOffset).getFloat64(8, true);

/** A keyspace that shows another value under one key. */
function showing(keys: Keyspace, at: string, value: unknown, set: Keyspace["set"] = keys.set.bind(keys)): Keyspace {
  const others = ["get", "find", "delete", "publish"] as const;
  const bound = Object.fromEntries(others.map((name) => [name, (keys[name] as () => unknown).bind(keys)]));
  const get = (key: string) => (key === at ? value : keys.get(key));
  return { ...bound, get, set } as unknown as Keyspace;
}

/** Rules of sealing closed chunks. */
export const SEAL_MUTATIONS: readonly Mutation[] = [
  {
    rule: "a seal replaces the chunk that was read: any chunk of its birth",
    suits: failsOver,
    conditions: LOSING,
    operation: {
      name: "journal/seal",
      local: (real) => (keys, key, input: Seal, nowMs) => {
        const at = closedKey(key, numberOf(input));
        const chunk = chunkOf(keys, at);
        const next = chunkOf(keys, closedKey(key, numberOf(input) + 1)) ?? chunkOf(keys, key);
        if (chunk?.header.format !== 1 || !next) return real(keys, key, input as never, nowMs);
        const seen = { header: chunk.header, length: input.length, bytes: input.bytes };
        const asked = { ...input, nextBirth: next.header.birth };
        return real(showing(keys, at, seen), key, asked as never, nowMs);
      },
    },
  },
  {
    rule: "a sealer knows the frames before its chunk: it does not look",
    suits: repeats,
    conditions: { ...BUSY, sizes: SMALL },
    patch: withoutEarlierNames,
  },
  {
    rule: "a sealer stops when a chunk before is missing: it goes on",
    conditions: {
      ...LOSING,
      hasDeletes: true,
      sizes: SMALL,
      sealThinkMs: 0,
      weather: { ...CALM, repeated: 0.5, repeatedLateMs: 8_000, lostReply: 0.2 },
    },
    patch: withoutMissingChunks,
  },
  {
    rule: "readers recognise copies of sealed frames: they do not",
    suits: repeatsLate,
    conditions: { ...BUSY, sizes: SMALL },
    patch: withoutSealedNames,
  },
  {
    rule: "a range covers no name that is not in the chunk: it covers gaps",
    suits: repeatsLate,
    conditions: {
      ...BUSY,
      isPlain: false,
      weather: { ...CALM, lostRequest: 0.3, repeated: 0.3, repeatedLateMs: 8_000, slow: 0.5, slowMs: 8_000 },
    },
    patch: withGapsCovered,
  },
  {
    rule: "a copy compares the events that it has with the sealed ones: it takes the rest",
    suits: failsOver,
    conditions: { ...LOSING, sealThinkMs: 0, failovers: 60 },
    patch: withoutComparison,
  },
  {
    rule: "a seal keeps the expiry: it counts from now",
    conditions: BUSY,
    operation: {
      name: "journal/seal",
      local: (real) => (keys, key, input, nowMs) => {
        const set: Keyspace["set"] = (at, value, sizeBytes) => keys.set(at, value, sizeBytes, nowMs + 5_000);
        return real(showing(keys, "", undefined, set), key, input, nowMs);
      },
    },
  },
  {
    rule: "a seal makes no chunk: it does",
    conditions: { ...BUSY, hasDeletes: true, sizes: SMALL, sealThinkMs: 8_000 },
    operation: {
      name: "journal/seal",
      local: (real) => (keys, key, input: Seal, nowMs) => {
        const at = closedKey(key, numberOf(input));
        if (keys.get(at)) return real(keys, key, input as never, nowMs);
        const open = chunkOf(keys, key);
        if (!open) return 1;
        const chunk = new ChunkBytes({ ...open.header, format: 2 }, input.bytes.length);
        keys.set(at, chunk, chunk.sizeBytes(), nowMs + 60_000);
        return 0;
      },
    },
  },
];
