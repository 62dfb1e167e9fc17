/** The kinds of structures that a store can hold. */
export const STRUCTURE_KINDS = [
  ...(["Series", "LockedWindow", "Limiter", "Lock", "ReadWriteLock", "Semaphore", "MultiSemaphore"] as const),
  ...(["Counters", "DrainService", "DelayQueue", "Breaker", "FleetMetrics"] as const),
] as const;
export type StructureKind = (typeof STRUCTURE_KINDS)[number];

/** Whether it is one of those of which programs make many, such as one for each user. */
export const isLock = (kind: StructureKind): boolean => /(Lock|Semaphore)$/.test(kind);

/** Settings as JSON values. `undefined` is left out. */
export type Settings = Readonly<Record<string, unknown>>;

/** A structure that this process uses on a store. Instances with one kind and name share an entry. */
export interface LiveStructure {
  readonly kind: StructureKind;
  readonly name: string;
  /** Settings that all processes must share. */
  readonly shared: Settings;
  readonly settings: Settings;
}

interface Entry extends LiveStructure {
  shared: Settings;
  settings: Settings;
  /** Of all instances that may be in use. Undefined in runtimes without WeakRef: then the entry counts as in use. */
  instances: WeakRef<object>[] | undefined;
  /** Number of references at which unused ones are removed. */
  sweepAt: number;
}

const MAX_ENTRIES = 5000;
const SWEEP_AT = 8;

/**
 * The structures on one store that this process has made and still references, at most 5000. Above this number, the
 * entry that was made first is removed. The list keeps no structure in memory.
 */
export class LiveStructures {
  readonly #entries = new Map<string, Entry>();

  add(kind: StructureKind, name: string, instance: object, shared: Settings, settings: Settings): LiveStructure {
    const key = `${kind} ${name}`;
    let entry = this.#entries.get(key);
    if (!entry) {
      const instances = typeof WeakRef === "function" ? [] : undefined;
      entry = { kind, name, shared, settings, instances, sweepAt: SWEEP_AT };
      this.#entries.set(key, entry);
      if (this.#entries.size > MAX_ENTRIES) this.#entries.delete(this.#entries.keys().next().value!);
    }
    entry.shared = shared;
    entry.settings = settings;
    const { instances } = entry;
    if (instances) {
      if (instances.length >= entry.sweepAt) {
        entry.instances = instances.filter((each) => each.deref());
        entry.sweepAt = Math.max(SWEEP_AT, 2 * entry.instances.length);
      }
      entry.instances!.push(new WeakRef(instance));
    }
    return entry;
  }

  /** The structures in use. Those that are not are removed. */
  *[Symbol.iterator](): Generator<LiveStructure> {
    for (const [key, entry] of this.#entries)
      if (!entry.instances || entry.instances.some((each) => each.deref())) yield entry;
      else this.#entries.delete(key);
  }
}
