import { inThisContext } from "../../base/async/context.ts";
import { idleTimeout } from "../../base/async/timers.ts";
import { sharedByEqualCopies } from "../../base/copies.ts";
import type { OrielError } from "../../base/errors.ts";
import { BIN_MS } from "../../generated/layouts/history.ts";
import type { Operation, Store } from "../../store/contract.ts";
import { onStructure, structuresOf, tap } from "../../store/registry/live.ts";
import { quietStore } from "../../store/registry/quiet-store.ts";
import { type CountedKind, deniedKey, type Outcome, openingsKey, outcomesKey, ringKey } from "./names.ts";
import { count } from "./steps/count.ts";
import { denied } from "./steps/denied.ts";
import { lines } from "./steps/lines.ts";
import { TopCounts } from "./top-counts.ts";

/** Limiters, queues and breakers with a history, by name, and queues with timings. Later ones have none. */
export const MAX_NAMES = 100;
/** A timer may end up to this time too early. */
const EARLY_MS = 50;

/** The copies of the package in one process count a structure once. */
const recorders = sharedByEqualCopies("recorders", () => new WeakMap<Store, Recorder>());

/** The one recorder of a store in this process. */
export function recorderOf(store: Store): Recorder {
  let recorder = recorders.get(store);
  if (!recorder) {
    recorder = new Recorder(store);
    recorders.set(store, recorder);
  }
  return recorder;
}

/**
 * Counts the decisions, deliveries and openings of this process on a store. It reports them within 20 s of the first, and at most
 * once in 10 s. Until then it is a few numbers in memory.
 */
export class Recorder {
  readonly #store: Store;
  readonly #quiet: Store;
  readonly #tallies = new Map<string, Tally>();
  readonly #ends: (() => void)[] = [];
  /** Not in the context of the call that was counted first. */
  readonly #report = inThisContext(() => void this.flush());
  #isOver = false;
  /** The `setTimeout` that calls for the next report. A test may replace it, and then the old one never does. */
  #timed: typeof setTimeout | undefined;
  /** By the store's monotonic clock: when the last report was sent, and the middle of a bin of the server before that. */
  #sentMs = Number.NEGATIVE_INFINITY;
  #middleMs: number | undefined;

  constructor(store: Store) {
    this.#store = store;
    this.#quiet = quietStore(store);
    this.onStructure((structure) => this.#attach(structure));
  }

  /** Calls `listener` with each structure there is, and with each that is made, until `close`. */
  onStructure(listener: (structure: object) => void): void {
    for (const structure of structuresOf(this.#store)) listener(structure);
    this.#ends.push(onStructure(this.#store, listener));
  }

  #attach(structure: object): void {
    if (isLimiter(structure)) this.#attachLimiter(structure);
    else if (isWorker(structure)) this.#attachWorker(structure);
    else if (isBreaker(structure)) {
      const tally = this.#tallyOf("Breaker", structure.name);
      structure[tap]((opening) => {
        if (this.#isOver || !tally) return;
        tally.opened(JSON.stringify(opening));
        this.#later();
      });
    }
  }

  /** Counts the decisions of `take`, `acquire` and `takeAll`. */
  #attachLimiter(limiter: RecordedLimiter): void {
    const tally = this.#tallyOf("Limiter", limiter.name);
    if (!tally) return;
    limiter[tap]({
      decided: ({ allowed, policy, policies }, hasDecided, id) => {
        if (this.#isOver) return;
        if (hasDecided) {
          tally.count(allowed ? "allowed" : "denied", policy);
          if (!allowed) tally.denied.add(id);
        }
        for (const each of policies) if (each.shadow && !each.allowed) tally.count("shadow", each.name);
        this.#later();
      },
    });
  }

  #attachWorker(worker: RecordedWorker): void {
    const tally = this.#tallyOf("DelayQueue", worker.queue.name);
    if (!tally) return;
    for (const outcome of ["completed", "failed", "dead"] as const)
      worker.on(outcome, () => {
        if (this.#isOver) return;
        tally.count(outcome);
        this.#later();
      });
  }

  #tallyOf(kind: Tally["kind"], name: string): Tally | undefined {
    const key = `${kind} ${name}`;
    let tally = this.#tallies.get(key);
    if (!tally && this.#tallies.size < MAX_NAMES) {
      tally = new Tally(kind, name);
      this.#tallies.set(key, tally);
    }
    return tally;
  }

  /** Reports in a while. Processes do not stay alive for it. */
  #later(): void {
    if (this.#timed === setTimeout) return;
    this.#timed = setTimeout;
    idleTimeout(this.#report, this.#waitMs());
  }

  /** Until the middle of a bin of the server, so that each bin gets one report. At least BIN_MS after the last report. */
  #waitMs(): number {
    if (this.#middleMs === undefined) return BIN_MS;
    const nowMs = this.#store.monotonic();
    const leastMs = Math.max(nowMs, this.#sentMs + BIN_MS - EARLY_MS);
    const pastMs = (leastMs - this.#middleMs) % BIN_MS;
    return leastMs - nowMs + (pastMs === 0 ? 0 : BIN_MS - pastMs);
  }

  /** Sends what was counted. Never rejects. */
  async flush(): Promise<void> {
    this.#timed = undefined;
    this.#sentMs = this.#store.monotonic();
    const serverMs = await report(this.#quiet, [...this.#tallies.values()]);
    if (serverMs !== undefined) this.#middleMs = this.#sentMs - ((serverMs + BIN_MS / 2) % BIN_MS);
  }

  /** Sends the rest, and counts no more. */
  async close(): Promise<void> {
    this.#isOver = true;
    if (recorders.get(this.#store) === this) recorders.delete(this.#store);
    for (const end of this.#ends) end();
    await this.flush();
  }
}

/** Counts of one structure. More than one of policies has, whose names are a few. */
const MAX_COUNTS = 64;
/** Of which denials are counted, for each limiter. */
const MAX_IDS = 1000;
/** Openings that wait for the store. Above this number, the oldest is dropped. */
const MAX_OPENINGS = 100;

/** A count of a structure since the store has the last one. */
interface Count extends Outcome {
  pending: number;
  /** When the store's list must get it again, by the store's monotonic clock. */
  listAgainMs: number;
}

/** Counts of one structure in this process, until the store has them. */
class Tally {
  readonly kind: CountedKind | "Breaker";
  readonly name: string;
  readonly counts: Count[] = [];
  readonly denied = new TopCounts(MAX_IDS);
  /** Openings of a circuit, each as JSON. */
  readonly openings: string[] = [];
  /** By outcome, then by policy. Their names are not joined, since each call looks here. */
  readonly #counts = new Map<string, Map<string, Count>>();

  constructor(kind: Tally["kind"], name: string) {
    this.kind = kind;
    this.name = name;
  }

  count(outcome: Outcome["outcome"], policy = ""): void {
    const found = this.#counts.get(outcome)?.get(policy) ?? this.#add(outcome, policy);
    if (found) found.pending++;
  }

  opened(line: string): void {
    this.openings.push(line);
    if (this.openings.length > MAX_OPENINGS) this.openings.shift();
  }

  #add(outcome: Outcome["outcome"], policy: string): Count | undefined {
    if (this.counts.length >= MAX_COUNTS) return undefined;
    const added: Count = { outcome, policy, pending: 0, listAgainMs: Number.NEGATIVE_INFINITY };
    this.counts.push(added);
    const ofOutcome = this.#counts.get(outcome) ?? new Map<string, Count>();
    this.#counts.set(outcome, ofOutcome.set(policy, added));
    return added;
  }
}

const DAY_MS = 86_400_000;

/**
 * Sends all counts in one turn, so that they share a request. Counts that surely did not reach the store are sent with the next
 * report. Resolves to the server's time, if the server has added a count. Never rejects.
 */
async function report(store: Store, tallies: readonly Tally[]): Promise<number | undefined> {
  const sent: Promise<void>[] = [];
  let serverMs: number | undefined;
  const send = <Input>(operation: Operation<Input, unknown>, key: string, input: Input, failed = (_: unknown) => {}) =>
    sent.push(store.run(operation, key, input).then(noteTime, failed));
  const noteTime = (reply: unknown) => {
    serverMs = (reply as { nowMs?: number }).nowMs ?? serverMs;
  };
  const sendCount = (kind: "Limiter" | "DelayQueue", name: string, each: Count) => {
    const added = each.pending;
    if (added === 0) return;
    each.pending = 0;
    send(count, ringKey(store, kind, name, each), { added, bins: 0 }, (error) => {
      if ((error as OrielError).applied === "no") each.pending += added;
    });
    // The list expires, so each process adds its outcomes each day.
    if (store.monotonic() < each.listAgainMs) return;
    each.listAgainMs = store.monotonic() + DAY_MS;
    const line = JSON.stringify({ outcome: each.outcome, policy: each.policy });
    send(lines, outcomesKey(store, kind, name), { line, isWanted: false }, () => {
      each.listAgainMs = Number.NEGATIVE_INFINITY;
    });
  };
  for (const tally of tallies) {
    const { kind, name } = tally;
    if (kind === "Breaker") {
      const key = openingsKey(store, name);
      // Processes see the same openings. A line that is there is not added again.
      for (const line of tally.openings.splice(0))
        send(lines, key, { line, isWanted: false }, () => tally.opened(line));
      continue;
    }
    for (const each of tally.counts) sendCount(kind, name, each);
    const added = tally.denied.takeAll();
    if (added.size > 0) send(denied, deniedKey(store, name), { added, isWanted: false });
  }
  await Promise.all(sent);
  return serverMs;
}

interface RecordedLimiter {
  readonly name: string;
  readonly [tap]: (listener: { decided(decision: DecisionLike, hasDecided: boolean, id: string): void }) => void;
}

interface DecisionLike {
  readonly allowed: boolean;
  readonly policy: string;
  readonly policies: readonly { name: string; allowed: boolean; shadow: boolean }[];
}

interface RecordedBreaker {
  readonly name: string;
  readonly [tap]: (listener: (opening: object) => void) => void;
}

interface RecordedWorker {
  readonly queue: { readonly name: string };
  on(event: "completed" | "failed" | "dead", listener: (event: { durationMs: number }) => void): () => void;
  on(event: "claimed", listener: (event: { lateMs: number }) => void): () => void;
  on(event: "started", listener: (event: { waitMs: number }) => void): () => void;
}

function isLimiter(structure: object): structure is RecordedLimiter {
  return "take" in structure && "acquire" in structure;
}

function isBreaker(structure: object): structure is RecordedBreaker {
  return "enable" in structure;
}

export function isWorker(structure: object): structure is RecordedWorker {
  return "queue" in structure && "on" in structure;
}
