import { OrielError } from "../../base/errors.ts";
import { hexOf } from "../../base/hex.ts";
import type { Store, WatchedStore } from "../../store/contract.ts";
import type { Settings } from "../../store/registry/live.ts";
import { quietStore } from "../../store/registry/quiet-store.ts";
import { type RegisteredStructure, type Registry, readRegistry } from "../../store/registry/read-registry.ts";
import type { DashboardSettings } from "../dashboard/options.ts";
import type { ProcessEntry } from "../dashboard/protocol.ts";

/** The registry is read at most this often, however many pages are open, and so that it takes a twentieth of the time. */
const REGISTRY_MS = 250;
const REGISTRY_SHARE = 20;

/** A structure by its name and the settings that the registry or an operator names. They are foreign, and each kind checks them. */
export interface Described {
  readonly name: string;
  readonly settings: Settings;
}

/** A structure that a scope opens once for each id. */
export interface Identified extends Described {
  readonly id: string;
}

/** Makes the object of a structure. There is one such function for each kind, in its file. It throws ARGUMENT for wrong settings. */
export type Open<T> = (store: Store, structure: Described) => T;

/** A structure of the registry under the short id by which the page names it. */
export interface Listed extends RegisteredStructure {
  readonly id: string;
}

/** The store, the settings and the structures of one dashboard or command. */
export class Scope {
  readonly store: Store;
  readonly watched: WatchedStore;
  readonly settings: DashboardSettings;
  readonly ids: Ids;
  #registry: Promise<Registry> | undefined;
  #readMs = Number.NEGATIVE_INFINITY;
  #keptMs = REGISTRY_MS;
  #listed = new Map<string, Listed>();
  readonly #opened = new Map<string, Opened<unknown>>();

  constructor(store: WatchedStore, settings: DashboardSettings) {
    this.watched = store;
    this.store = quietStore(store);
    this.settings = settings;
    this.ids = new Ids(settings.masksIds);
  }

  /** The registry, at most 250 ms old, or twenty times as long as reading it takes. */
  registry(): Promise<Registry> {
    const nowMs = this.store.monotonic();
    if (!this.#registry || nowMs - this.#readMs > this.#keptMs) {
      this.#readMs = nowMs;
      const reading = readRegistry(this.store).then((registry) => {
        this.#keptMs = Math.max(REGISTRY_MS, REGISTRY_SHARE * (this.store.monotonic() - nowMs));
        this.#listed = new Map(registry.structures.map((each) => [idOf(each), { ...each, id: idOf(each) }]));
        return registry;
      });
      reading.catch(() => {
        if (this.#registry === reading) this.#registry = undefined;
      });
      this.#registry = reading;
    }
    return this.#registry;
  }

  /** The server's time, within a round trip. */
  async nowMs(): Promise<number> {
    const { nowMs } = await this.registry();
    return nowMs + this.store.monotonic() - this.#readMs;
  }

  /** The processes that have announced structures within an hour. */
  async processes(): Promise<ProcessEntry[]> {
    const { processes } = await this.registry();
    return processes.map(({ id, host, version, startedMs, seenMs }) => ({ id, host, version, startedMs, seenMs }));
  }

  /** All structures, in the order of kind and name. */
  async structures(): Promise<Listed[]> {
    await this.registry();
    return [...this.#listed.values()];
  }

  /** Throws ARGUMENT if the registry has no structure of this id. */
  async structure(id: string | null): Promise<Listed> {
    await this.registry();
    const found = this.#listed.get(id ?? "");
    if (!found) throw new OrielError("ARGUMENT", "id names no structure of the registry; the page may be out of date");
    return found;
  }

  /**
   * The scope's own object for a structure, made by `open` at its first use. Settings that changed make another one.
   * The last 2000 that were used are kept. The others are closed by `close`, which a kind without timers and memory of its
   * own does not need: `Breaker.close` would close the circuit.
   */
  opened<T>(structure: Identified, open: Open<T>, close?: (made: T) => Promise<void>): T {
    const key = `${structure.id} ${JSON.stringify(structure.settings)}`;
    const known = this.#opened.get(key) as Opened<T> | undefined;
    const used = known ?? { made: open(this.store, structure), close };
    this.#opened.delete(key); // the map is in the order of use
    this.#opened.set(key, used as Opened<unknown>);
    if (this.#opened.size > MAX_OPENED) void this.#closeFirst();
    return used.made;
  }

  /** Closes the structures that it has opened. */
  async close(): Promise<void> {
    while (this.#opened.size > 0) await this.#closeFirst();
  }

  async #closeFirst(): Promise<void> {
    const [key, { made, close }] = this.#opened.entries().next().value!;
    this.#opened.delete(key);
    await close?.(made).catch(() => {}); // nobody uses it any more
  }
}

interface Opened<T> {
  readonly made: T;
  readonly close: ((made: T) => Promise<void>) | undefined;
}

const MAX_OPENED = 2000;

/** 106 bits of kind and name (two rounds of a multiplicative hash), as 22 hexadecimal digits. */
function idOf({ kind, name }: { kind: string; name: string }): string {
  const text = `${kind} ${name}`;
  return hash(text, 0) + hash(text, 1);
}

function hash(text: string, seed: number): string {
  let a = 0xdeadbeef ^ seed;
  let b = 0x41c6ce57 ^ seed;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(16).padStart(14, "0").slice(-11);
}

/** Ids of users and messages, as pages see them. */
export class Ids {
  readonly #isMasked: boolean;
  #secret: ReturnType<typeof newSecret> | undefined;

  constructor(isMasked: boolean) {
    this.#isMasked = isMasked;
  }

  /** The id, or under `maskIds` its first and last character, or less. */
  shown(id: string): string {
    if (!this.#isMasked) return id;
    const characters = [...id];
    return characters.length < 4 ? "…" : `${characters[0]}…${characters.at(-1)}`;
  }

  /**
   * A text that no other id has: the id, or under `maskIds` a code made with a secret of this process. Without the secret
   * nobody can try ids until one has this code.
   */
  async keyOf(id: string): Promise<string> {
    if (!this.#isMasked) return id;
    this.#secret ??= newSecret();
    const code = await crypto.subtle.sign("HMAC", await this.#secret, new TextEncoder().encode(id));
    return hexOf(new Uint8Array(code, 0, 16));
  }
}

function newSecret() {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}
