import { CONFLICT_MS } from "../generated/layouts/registry.ts";
import type { Store } from "../store/contract.ts";
import { warn } from "../warn.ts";
import { isLock, type LiveStructure, type LiveStructures } from "./live.ts";
import { announce, type OtherSettings } from "./steps/announce.ts";
import { basesOf } from "./steps/keys.ts";
import { processId, thisProcess } from "./this-process.ts";

/** A structure announces itself once in this time, in ms. */
const PERIOD_MS = 60_000;
/** The first announcement comes this long after a structure was made, so that short programs announce nothing. */
const FIRST_MS = 5000;
/** Structures in one announcement. The others follow after `FIRST_MS`. */
const MAX_STRUCTURES = 100;

/** The field of a structure in the registry. JSON has no line feeds. */
const fieldOf = ({ kind, name }: LiveStructure): string => `${kind} ${JSON.stringify(name)}`;

/** Announces the structures of this process on one server. */
export class Announcer {
  readonly structures: LiveStructures;
  /** When each structure is due, by the store's monotonic clock. One without a time is due after `FIRST_MS`. */
  readonly #due = new WeakMap<LiveStructure, number>();
  readonly #warned = new Set<string>();
  #nextMs = Number.POSITIVE_INFINITY;

  constructor(structures: LiveStructures) {
    this.structures = structures;
  }

  added(structure: LiveStructure, nowMs: number): void {
    if (this.#due.has(structure)) return;
    this.#due.set(structure, nowMs + FIRST_MS);
    this.#nextMs = Math.min(this.#nextMs, nowMs + FIRST_MS);
  }

  /** Adds an announcement to the calls of this turn, if one is due. Never throws, and costs one look at the clock. */
  ride(store: Store): void {
    const nowMs = store.monotonic();
    if (nowMs < this.#nextMs) return;
    const dueMs = (each: LiveStructure) => this.#due.get(each)!;
    // Those that have waited longest come first, so that each has its turn, however many there are.
    const all = [...this.structures].sort((a, b) => dueMs(a) - dueMs(b));
    const due = all.slice(0, MAX_STRUCTURES).filter((each) => dueMs(each) <= nowMs);
    const next = all[due.length];
    this.#nextMs =
      next && dueMs(next) <= nowMs
        ? nowMs + FIRST_MS
        : Math.min(next ? dueMs(next) : Number.POSITIVE_INFINITY, nowMs + PERIOD_MS);
    for (const each of due) this.#due.set(each, nowMs + PERIOD_MS);
    const [base, locks] = basesOf(store);
    this.#announce(store, base, due, ({ kind }) => !isLock(kind));
    this.#announce(store, locks, due, ({ kind }) => isLock(kind));
  }

  #announce(store: Store, base: string, due: LiveStructure[], isOfTable: (each: LiveStructure) => boolean): void {
    const structures = due.filter(isOfTable);
    if (structures.length === 0) return;
    const facts = thisProcess();
    const fields = [...this.structures].filter(isOfTable).map(fieldOf);
    const input = {
      process: processId(),
      version: facts.version,
      record: JSON.stringify({ ...facts, structures: fields }),
      structures: structures.map((each) => ({
        field: fieldOf(each),
        shared: JSON.stringify(each.shared),
        settings: JSON.stringify(each.settings),
      })),
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
