import { bringAllForms } from "../../../src/entries/memory-store.ts";
import type { Keyspace, Operation } from "../../../src/store/contract.ts";
import { localFormOf } from "../../../src/store/memory/memory.ts";
import { copyOf } from "./copy.ts";
import type { World } from "./world.ts";

/** An immutable copy of a key's value, as on a replica or a disk. */
export interface Version {
  readonly value: unknown;
  readonly expireAtMs: number;
}

/** One step that the server has run, for watchers. */
export interface Step {
  readonly operation: string;
  readonly key: string;
  readonly input: unknown;
  readonly origin: unknown;
  readonly nowMs: number;
  readonly output?: unknown;
  readonly error?: unknown;
  /** Keys that it wrote or deleted. */
  readonly written: readonly string[];
  /** The values of the written keys before the step. */
  readonly previous?: ReadonlyMap<string, Version | undefined>;
}

interface Entry {
  live: unknown;
  version: Version;
}

interface Undo {
  readonly key: string;
  readonly previous: Version | undefined;
}

const HISTORY_STEPS = 64;

/** A Redis server: keys with absolute expiry, a clock that steps, and replicas that lag. */
export class SimServer {
  /** The error of the server's clock. */
  offsetMs = 0;
  readonly watchers: ((step: Step) => void)[] = [];
  /** The key that a step finds when it looks for an undeclared one, or undefined. While a slot migrates, it may be any. */
  lookUp: (key: string) => string | undefined = (key) => key;
  /** Called with each message of a step, once its writes have taken effect. */
  onPublish: (channel: string, message: string) => void = () => {};
  readonly #world: World;
  readonly #mayStay: boolean;
  readonly #entries = new Map<string, Entry>();
  readonly #history: Undo[][] = [];
  #writes = 0;

  /** `mayStay`: keys may be kept without an expiry. */
  constructor(world: World, mayStay = false) {
    bringAllForms();
    this.#world = world;
    this.#mayStay = mayStay;
  }

  get nowMs(): number {
    return this.#world.nowMs + this.offsetMs;
  }

  /** Steps that a failover can still take back. */
  get historySize(): number {
    return this.#history.length;
  }

  /** Writes that it has, without those that failovers took back. */
  get writes(): number {
    return this.#writes;
  }

  /** The live keys, by name. */
  versions(): Map<string, Version> {
    const now = this.nowMs;
    const all = new Map<string, Version>();
    for (const [key, entry] of this.#entries) if (entry.version.expireAtMs >= now) all.set(key, entry.version);
    return all;
  }

  version(key: string): Version | undefined {
    const version = this.#entries.get(key)?.version;
    return version && version.expireAtMs >= this.nowMs ? version : undefined;
  }

  /** Runs one step, whole or not at all. Returns its output or throws its error. */
  execute<Input, Output>(operation: Operation<Input, Output>, key: string, input: Input, origin?: unknown): Output {
    const allowed = new Set(operation.keysOf?.(key, input) ?? [key]);
    const nowMs = this.nowMs;
    const undo: Undo[] = [];
    const news: [channel: string, message: string][] = [];
    for (const each of allowed) this.#expire(each, nowMs);
    const touch = (each: string) => {
      if (!allowed.has(each)) this.#world.violation(`${operation.name} touches ${each}, a key that it did not declare`);
      if (undo.every((one) => one.key !== each)) undo.push({ key: each, previous: this.#entries.get(each)?.version });
    };
    const keys: Keyspace = {
      get: (each) => {
        if (!allowed.has(each)) this.#world.violation(`${operation.name} reads ${each}, a key that it did not declare`);
        return this.#entries.get(each)?.live;
      },
      find: (each) => {
        if (!each.startsWith(`${key}:`))
          this.#world.violation(`${operation.name} looks for ${each}, which may be in another slot`);
        const found = this.lookUp(each);
        return found === undefined ? undefined : this.#live(found, nowMs);
      },
      set: (each, value, _sizeBytes, expireAtMs) => {
        touch(each);
        const isKept = this.#mayStay && expireAtMs === Number.POSITIVE_INFINITY;
        if (!isKept && !Number.isSafeInteger(expireAtMs))
          this.#world.violation(`${operation.name} gives ${each} no expiry`);
        this.#entries.set(each, { live: value, version: { value, expireAtMs } });
      },
      delete: (each) => {
        touch(each);
        this.#entries.delete(each);
      },
      publish: (...message) => news.push(message),
    };
    const watched = { operation: operation.name, key, input, origin, nowMs };
    const written = () => undo.map((one) => one.key);
    let output: Output;
    try {
      output = copyOf(localFormOf(operation)(keys, key, input, nowMs));
    } catch (error) {
      if (undo.length > 0) this.#world.violation(`${operation.name} wrote ${written()} and then threw ${error}`);
      this.#watch({ ...watched, error, written: [] });
      throw error;
    }
    // Only now: a step may go on filling a value after it has been set.
    for (const one of written()) this.#freeze(one);
    this.#commit(undo);
    this.#watch({
      ...watched,
      output,
      written: written(),
      previous: new Map(undo.map((one) => [one.key, one.previous])),
    });
    for (const message of news) this.onPublish(...message);
    return output;
  }

  /** What Redis does now and then: it removes keys whose time is over. */
  sweep(): void {
    for (const key of [...this.#entries.keys()]) this.#expire(key, this.nowMs);
  }

  /** A replica takes over that has not heard of the last steps. Returns how many writing steps were lost. */
  failover(lostSteps: number): number {
    let lost = 0;
    for (; lost < lostSteps && this.#history.length > 0; lost++)
      for (const { key, previous } of this.#history.pop()!.reverse()) {
        if (previous) this.#entries.set(key, { live: copyOf(previous.value), version: previous });
        else this.#entries.delete(key);
      }
    this.#writes -= lost;
    return lost;
  }

  /** It is started again without its data. */
  loseAll(): void {
    this.#entries.clear();
    this.#history.length = 0;
    this.#writes = 0;
  }

  /** The replicas have every write. */
  replicate(): void {
    this.#history.length = 0;
  }

  #live(key: string, nowMs: number): unknown {
    const entry = this.#entries.get(key);
    return entry && entry.version.expireAtMs >= nowMs ? entry.live : undefined;
  }

  #freeze(key: string): void {
    const entry = this.#entries.get(key);
    if (entry) entry.version = { value: copyOf(entry.live), expireAtMs: entry.version.expireAtMs };
  }

  #expire(key: string, nowMs: number): void {
    const entry = this.#entries.get(key);
    if (!entry || entry.version.expireAtMs >= nowMs) return;
    this.#entries.delete(key);
    this.#commit([{ key, previous: entry.version }]);
  }

  #commit(undo: Undo[]): void {
    if (undo.length === 0) return;
    this.#writes++;
    this.#history.push(undo);
    if (this.#history.length > HISTORY_STEPS) this.#history.shift();
  }

  #watch(step: Step): void {
    for (const watcher of this.watchers) watcher(step);
  }
}
