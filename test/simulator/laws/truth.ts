import type { Chunk, JournalEvent } from "./journal.ts";

/** A moment of the server, as one of its steps left it: the whole journal, open chunk first. */
export interface Snapshot {
  readonly nowMs: number;
  /** How many writing steps the server had run. */
  readonly step: number;
  readonly chain: readonly Chunk[];
}

/** The answer that a reader of this moment must give. */
export interface Expected {
  readonly fromMs: number;
  readonly toMs: number;
  /** Ascending. */
  readonly values: Float64Array;
  readonly count: number;
  readonly sum: number;
  /** The answer must be marked, because the header or the clock shows it. */
  readonly isDegraded: boolean;
}

/** The series' present: the server's clock, never behind the last stamp; on an event clock, the latest event. */
export function presentOf({ nowMs, chain }: Snapshot): number {
  const open = chain[0];
  if (!open) return nowMs;
  return open.isEventClock ? open.latestAtMs : Math.max(nowMs, open.lastStampMs);
}

export interface CountedEvent extends JournalEvent {
  readonly frame: string;
  readonly stampMs: number;
}

/** The closed part of a journal, by its newest chunk; the same as long as it reaches back to the same oldest one. */
const closedParts = new WeakMap<Chunk, { oldest: Chunk; frames: Set<string>; events: CountedEvent[] }>();

/** Every frame counts once, where the journal has it first. */
export function eventsOf(chain: readonly Chunk[]): CountedEvent[] {
  const [open, newest] = chain;
  if (!open) return [];
  if (!newest) return countedIn([open], new Set());
  const oldest = chain.at(-1)!;
  let closed = closedParts.get(newest);
  if (closed?.oldest !== oldest) {
    const frames = new Set<string>();
    closed = { oldest, frames, events: countedIn(chain.slice(1), frames) };
    closedParts.set(newest, closed);
  }
  return [...closed.events, ...countedIn([open], new Set(), closed.frames)];
}

function countedIn(chain: readonly Chunk[], frames: Set<string>, before?: ReadonlySet<string>): CountedEvent[] {
  const events: CountedEvent[] = [];
  for (let i = chain.length - 1; i >= 0; i--)
    for (const frame of chain[i]!.frames) {
      if (frames.has(frame.id) || before?.has(frame.id)) continue;
      frames.add(frame.id);
      for (const { value, atMs } of frame.events) events.push({ value, atMs, frame: frame.id, stampMs: frame.stampMs });
    }
  return events;
}

export function expectedOf(snapshot: Snapshot, spanMs: number, atMs = presentOf(snapshot)): Expected {
  const { chain, nowMs } = snapshot;
  const open = chain[0];
  const fromMs = atMs - spanMs;
  const inside: number[] = [];
  let sum = 0;
  for (const event of eventsOf(chain)) {
    if (event.atMs <= fromMs || event.atMs > atMs) continue;
    inside.push(event.value);
    sum += event.value;
  }
  const values = Float64Array.from(inside).sort();
  const isDegraded =
    open !== undefined &&
    ((!open.isEventClock && fromMs < open.completeSinceMs) ||
      presentOf(snapshot) - fromMs > open.retentionMs ||
      (!open.isEventClock && open.lastStampMs - nowMs > 1000));
  return { fromMs, toMs: atMs, values, count: values.length, sum, isDegraded };
}

/**
 * Events that were stamped earlier may be gone without a trace: a journal that has expired as a whole leaves none, neither where
 * there is no journal now, nor where the first chunk of another one stands. `latestMs`: the server's clock may have been set back
 * since the journal expired.
 */
export function traceableSinceMs({ nowMs, chain }: Snapshot, retentionMs: number, latestMs: number): number {
  const oldest = chain.at(-1);
  if (!oldest) return nowMs - retentionMs;
  return oldest.birthBefore === 0 ? latestMs - retentionMs - 60_000 : Number.NEGATIVE_INFINITY;
}
