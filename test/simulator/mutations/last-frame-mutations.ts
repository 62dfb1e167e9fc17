import type { Plan } from "../plan.ts";
import type { Known, Read } from "../subject.ts";
import { CALM } from "../world/network.ts";
import { failsOver, type Mutation } from "./mutation.ts";

/** The position that a caller knows in a chunk, without the place of the last frame, so that no comparison is made. */
const placeless = (known: Known): Known => ({ ...known, place: 0 });

/** Many failovers in a calm network, while the resident series of several processes record and ask. */
const LOSING_TAILS: Partial<Plan> = {
  isPlain: false,
  modes: { onStoreError: "throw", replicas: 0 },
  clock: "server",
  weather: CALM,
  failovers: 40,
  refusals: 0,
  durationMs: 60_000,
  paceMs: 200,
  hasDeletes: false,
  hasOwnTimes: false,
  writerCount: 4,
  readerCount: 3,
  retentionMs: 15_000,
  largerRetentionMs: 15_000,
  sizes: { pageBytes: 1 << 20, rotateBytes: 1 << 20, appendBytes: 1 << 20, coldBytes: 1 << 20 },
};

/** Rules about the last frame that a caller knows. It shows that a failover removed frames. */
export const LAST_FRAME_MUTATIONS: readonly Mutation[] = [
  {
    rule: "the last frame header known must agree: an append does not look at it",
    suits: failsOver,
    conditions: {
      failovers: 30,
      durationMs: 60_000,
      paceMs: 200,
      hasDeletes: false,
      writerCount: 4,
      retentionMs: 15_000,
    },
    operation: {
      name: "journal/append",
      local: (real) => (keys, key, input: { known: Known | undefined | "none" }, nowMs) => {
        const known = typeof input.known === "object" ? placeless(input.known) : input.known;
        return real(keys, key, { ...input, known } as never, nowMs);
      },
    },
  },
  {
    rule: "the last frame header known must agree: a read does not look at it",
    // One chunk that loses its tail and grows again, and processes that hold it and ask rarely enough to miss that.
    conditions: LOSING_TAILS,
    operation: {
      name: "journal/read",
      local: (real) => (keys, key, input: Read, nowMs) =>
        real(keys, key, (typeof input === "object" ? placeless(input) : input) as never, nowMs),
    },
  },
];
