import { endsWithRequest } from "../../base/async/of-request.ts";
import { idleTimeout } from "../../base/async/timers.ts";
import { randomU32 } from "../../base/random.ts";
import { warn } from "../../base/warn.ts";
import { CONFLICT_MS } from "../../generated/layouts/registry.ts";
import { version } from "../../generated/version.ts";
import type { Store } from "../contract.ts";
import { inUse, isLock, type Live, type LiveStructure } from "./live.ts";
import { announce, basesOf, type OtherSettings } from "./steps/announce.ts";

/** The process announces its structures together, once in this time, in ms. */
const PERIOD_MS = 60_000;
/**
 * A new structure is announced this long after it was made, with the calls of that time or, if there are none, by itself.
 * So people see it at once, and programs that end earlier announce nothing.
 */
const FIRST_MS = 200;
/** A timer may end up to this time too early. */
const EARLY_MS = 5;
/** About the length of one announcement, which holds some thousand structures. Others follow with the next one. */
const MAX_LENGTH = 262_144;

/** The field of a structure in the registry. JSON has no line feeds. */
const fieldOf = ({ kind, name }: LiveStructure): string => `${kind} ${JSON.stringify(name)}`;

const partsOf = (each: LiveStructure) => ({
  field: fieldOf(each),
  shared: JSON.stringify(each.shared),
  settings: JSON.stringify(each.settings),
});

/** The first structures that fit into one announcement, at least one. */
function fitting(structures: readonly LiveStructure[]): LiveStructure[] {
  let length = 0;
  const end = structures.findIndex((each, i) => {
    const { field, shared, settings } = partsOf(each);
    length += field.length + shared.length + settings.length;
    return i > 0 && length > MAX_LENGTH;
  });
  return structures.slice(0, end < 0 ? structures.length : end);
}

/** Announces the structures of this process on one server, of this copy of the package. */
export class Announcer {
  readonly #live: Live;
  /** Those with whose calls it announces. */
  readonly #stores = new WeakSet<Store>();
  /** When each new structure is due, by the store's monotonic clock. */
  readonly #due = new WeakMap<LiveStructure, number>();
  /** When each other one was announced. */
  readonly #announced = new WeakMap<LiveStructure, number>();
  readonly #warned = new Set<string>();
  #nextMs = Number.POSITIVE_INFINITY;
  /** When all are due. */
  #allMs = Number.NEGATIVE_INFINITY;
  #isTimed = false;

  constructor(live: Live) {
    this.#live = live;
  }

  added(structure: LiveStructure, store: Store): void {
    if (!this.#stores.has(store)) {
      this.#stores.add(store);
      store.onTurn?.(() => this.ride(store));
    }
    if (this.#due.has(structure)) return;
    const dueMs = store.monotonic() + FIRST_MS;
    this.#due.set(structure, dueMs);
    this.#nextMs = Math.min(this.#nextMs, dueMs);
  }

  /**
   * Adds an announcement to the calls of this turn, if one is due. A new structure gets one of its own if no calls follow.
   * Never throws, and costs one look at the clock.
   */
  ride(store: Store): void {
    const nowMs = store.monotonic();
    if (nowMs < this.#nextMs) {
      // Before the first announcement of all, and whenever a new structure is due before the next one.
      const isForNew = this.#allMs === Number.NEGATIVE_INFINITY || this.#nextMs < this.#allMs;
      if (isForNew && !this.#isTimed) this.#rideLater(store, this.#nextMs - nowMs);
      return;
    }
    const isForAll = nowMs >= this.#allMs;
    const lastMs = (each: LiveStructure) => this.#announced.get(each) ?? Number.NEGATIVE_INFINITY;
    const isNew = (each: LiveStructure) => !this.#announced.has(each);
    const { others, locks } = this.#live;
    const [ownOthers, ownLocks] = [this.#own(others), this.#own(locks)];
    const all = [...ownOthers, ...ownLocks];
    const due = all.filter((each) => (isNew(each) ? this.#due.get(each)! <= nowMs : isForAll));
    // Those that have waited longest come first, so that each has its turn, however many there are.
    const sent = fitting(due.sort((a, b) => lastMs(a) - lastMs(b)));
    for (const each of sent) this.#announced.set(each, nowMs);
    if (isForAll) this.#allMs = nowMs + PERIOD_MS;
    this.#nextMs = this.#allMs;
    for (const each of all.filter(isNew)) {
      const dueMs = this.#due.get(each)!;
      this.#nextMs = Math.min(this.#nextMs, dueMs > nowMs ? dueMs : nowMs + FIRST_MS);
    }
    const [base, lockBase] = basesOf(store);
    const isOfLocks = ({ kind }: LiveStructure) => isLock(kind);
    this.#announce(
      store,
      base,
      ownOthers,
      sent.filter((each) => !isOfLocks(each)),
    );
    this.#announce(store, lockBase, ownLocks, sent.filter(isOfLocks));
  }

  /** Another version of the package announces its own. */
  #own(entries: Live["others"]): LiveStructure[] {
    return inUse(entries).filter((each) => this.#due.has(each));
  }

  /** Where a process ends with its request, a timer would not be called. */
  #rideLater(store: Store, ms: number): void {
    this.#isTimed = true;
    if (endsWithRequest) return;
    // A clock that stands still, as those of tests do, is looked at again with the next call only.
    idleTimeout(() => {
      this.#isTimed = false;
      if (store.monotonic() >= this.#nextMs) this.ride(store);
    }, ms + EARLY_MS);
  }

  #announce(store: Store, base: string, ofTable: LiveStructure[], structures: LiveStructure[]): void {
    if (structures.length === 0) return;
    const facts = thisProcess();
    const input = {
      process: processId(),
      version: facts.version,
      record: JSON.stringify({ ...facts, structures: ofTable.map(fieldOf) }),
      structures: structures.map(partsOf),
    };
    // A failed announcement is not repeated before the next minute. Nothing depends on it.
    store.run(announce, base, input).then(
      ({ nowMs, others }) => {
        others.forEach((other, i) => {
          if (other && other.ms > nowMs - CONFLICT_MS && other.process !== input.process)
            this.#warn(structures[i]!, other);
        });
      },
      () => {},
    );
  }

  #warn({ kind, name, shared }: LiveStructure, { process, shared: other }: OtherSettings): void {
    const key = `${kind} ${name} ${other}`;
    if (this.#warned.size >= 1000 || this.#warned.has(key)) return;
    this.#warned.add(key);
    const own = `this process (${processId()}) has ${JSON.stringify(shared)}`;
    warn(
      `${kind} ${JSON.stringify(name)}: ${own}, but process ${process} has ${other}; all processes must use the same settings`,
      "MISMATCH",
    );
  }
}

/** The facts that a process announces about itself. */
export interface ProcessFacts {
  /** "" if it is unknown. */
  host: string;
  /** Undefined if the runtime has no processes. */
  pid: number | undefined;
  /** For example "Node.js/24", "Cloudflare-Workers" or "browser". */
  runtime: string;
  /** Version of oriel. */
  version: string;
  /** Start of the process or page, in ms since 1970. */
  startedMs: number;
}

interface ProcessLike {
  pid?: number;
  version?: string;
  getBuiltinModule?(name: "node:os"): { hostname(): string };
}

// Its properties are read when they are needed: Node loads `performance` and `navigator` at the first access.
const world = globalThis as {
  process?: ProcessLike;
  navigator?: { userAgent?: string };
  performance?: { timeOrigin?: number };
  Deno?: object;
};

let facts: ProcessFacts | undefined;
let id = "";

/** Facts about this process. They are read at the first call. */
export function thisProcess(): ProcessFacts {
  const agent = world.navigator?.userAgent ?? `Node.js/${world.process?.version}`;
  facts ??= {
    host: hostName(),
    pid: world.process?.pid,
    runtime: agent.startsWith("Mozilla") ? "browser" : agent,
    version,
    startedMs: Math.floor(world.performance?.timeOrigin || Date.now()),
  };
  return facts;
}

/** This process's id: host or runtime, pid and a random number, as in "web-1:4242:9f3c21aa". */
export function processId(): string {
  const { host, pid = "", runtime } = thisProcess();
  id ||= `${host || runtime}:${pid}:${randomU32().toString(16)}`;
  return id;
}

/** Without an import, which some bundlers refuse. Deno would ask its user for a permission. */
function hostName(): string {
  try {
    return world.Deno ? "" : world.process!.getBuiltinModule!("node:os").hostname();
  } catch {
    return "";
  }
}
