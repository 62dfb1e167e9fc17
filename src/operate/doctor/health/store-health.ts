import type { WatchedStore } from "../../../store/contract.ts";
import { fieldsOf, serverNameOf } from "../facts.ts";

export interface StoreHealth {
  state: "up" | "down";
  sinceMs: number;
  reason: string | null;
  address: string | null;
  /** Duration of one round trip, in ms. */
  latencyMs: number | null;
  /** The server's clock minus the clock of this process. */
  offsetMs: number | null;
  /** One for each primary. Empty if the store has no INFO, or the server refuses it. */
  nodes: readonly NodeHealth[];
}

export interface NodeHealth {
  server: string | null;
  usedBytes: number | null;
  /** Null without a limit. */
  maxBytes: number | null;
  eviction: string | null;
  persistence: string | null;
}

/** A round trip is measured at most this often, and INFO is read this often, however often the health is asked for. */
const TRIP_MS = 1500;
const INFO_MS = 10_000;
const SECTIONS = ["server", "memory", "persistence"];

/** The health of one store, measured once for all its readers. `serverNowMs` makes one round trip. */
export class HealthReader {
  readonly #store: WatchedStore;
  readonly #serverNowMs: () => Promise<number>;
  #entry: Promise<StoreHealth> | undefined;
  #measuredMs = Number.NEGATIVE_INFINITY;
  #nodes: readonly NodeHealth[] = [];
  #infoMs = Number.NEGATIVE_INFINITY;

  constructor(store: WatchedStore, serverNowMs: () => Promise<number>) {
    this.#store = store;
    this.#serverNowMs = serverNowMs;
  }

  /** The health, at most 1.5 s old. Never rejects. */
  read(): Promise<StoreHealth> {
    const nowMs = this.#store.monotonic();
    if (!this.#entry || nowMs - this.#measuredMs > TRIP_MS) {
      this.#measuredMs = nowMs;
      this.#entry = this.#measure();
    }
    return this.#entry;
  }

  async #measure(): Promise<StoreHealth> {
    let latencyMs: number | null = null;
    let offsetMs: number | null = null;
    let failure: string | null = null;
    const [beganMs, wallMs] = [performance.now(), Date.now()];
    try {
      const nowMs = await this.#serverNowMs();
      latencyMs = performance.now() - beganMs;
      offsetMs = Math.round(nowMs + 0.5 - (wallMs + latencyMs / 2)); // the server's time has whole ms
      await this.#readInfo();
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
    }
    const { state, since, reason, address } = this.#store.health;
    return {
      state: failure === null ? state : "down",
      sinceMs: since,
      reason: reason ?? failure,
      address: address ?? this.#store.address ?? null,
      latencyMs,
      offsetMs,
      nodes: this.#nodes,
    };
  }

  async #readInfo(): Promise<void> {
    const nowMs = this.#store.monotonic();
    if (!this.#store.info || nowMs - this.#infoMs < INFO_MS) return;
    this.#infoMs = nowMs;
    try {
      const sections = await Promise.all(SECTIONS.map((section) => this.#store.info!(section)));
      const primaries = Math.min(...sections.map((each) => each.length));
      this.#nodes = Array.from({ length: primaries }, (_, i) =>
        nodeOf(fieldsOf(sections.map((section) => section[i]).join("\n"))),
      );
    } catch {
      this.#nodes = []; // refused, for instance by an access list
    }
  }
}

function nodeOf(fields: ReadonlyMap<string, string>): NodeHealth {
  const bytesOf = (name: string) => {
    const bytes = Number(fields.get(name) ?? Number.NaN);
    return bytes > 0 ? bytes : null;
  };
  const server = serverNameOf(fields);
  return {
    server: server ? `${server.product} ${server.version}` : null,
    usedBytes: bytesOf("used_memory"),
    maxBytes: bytesOf("maxmemory"),
    eviction: fields.get("maxmemory_policy") ?? null,
    persistence: persistenceOf(fields),
  };
}

function persistenceOf(fields: ReadonlyMap<string, string>): string | null {
  const file = fields.get("aof_enabled");
  if (file === undefined) return null;
  if (file === "1")
    return fields.get("aof_last_write_status") === "err" ? "append-only file, failing" : "append-only file";
  return fields.get("rdb_last_bgsave_status") === "err" ? "snapshots, failing" : "snapshots or none";
}
