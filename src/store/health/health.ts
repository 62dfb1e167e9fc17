import type { Listeners } from "../../base/async/listeners.ts";
import { idleTimeout, pause } from "../../base/async/timers.ts";
import { within } from "../../base/async/within.ts";
import type { StoreEvents, StoreHealth } from "../contract.ts";
import type { ScriptClient } from "../delivery/client.ts";
import { probe } from "./probe.ts";
import { CHECK_LOST_MS, type Outage, ServerHealth } from "./server-health.ts";
import { storeListeners } from "./store-events.ts";

/** Longest wait for the answer to a written probe, before another one is written. */
const MAX_PROBE_MS = 30_000;
/** After a deadline without an answer, a server gets this time before calls fail at once. */
const MAX_CONFIRM_MS = 50;
const CONFIRM_PAUSE_MS = 10;

/**
 * The health of a store, shared by all structures on it: the servers that are down, and the probes that notice when
 * they are up again. In a cluster each node has its own state. A call depends on the node that has its key.
 */
export class Health {
  readonly #client: ScriptClient;
  readonly #deadlineMs: number;
  readonly #single: ServerHealth;
  readonly listeners = storeListeners("store");
  /** Wake calls that wait for a connection. */
  readonly #wakers = new Set<() => void>();
  /** The outages that this store probes, each with a function that ends the pause between two probes. */
  readonly #probed = new Map<Outage, () => void>();
  readonly #checks = new Map<ServerHealth, Promise<void>>();
  #isClosed = false;

  constructor(client: ScriptClient, deadlineMs: number) {
    this.#client = client;
    this.#deadlineMs = deadlineMs;
    this.#single = client.health ?? new ServerHealth(client.address);
  }

  /** The server that a call on `key` goes to. */
  serverOf(key: string): ServerHealth {
    return this.#client.nodes?.of(key) ?? this.#single;
  }

  /** The outage if a call must fail at once. If no timer can begin a probe, the call itself is the probe. */
  refuses(server: ServerHealth): Outage | undefined {
    const { outage } = server;
    return outage?.beginByCall(performance.now(), this.#deadlineMs) ? undefined : outage;
  }

  answered(server: ServerHealth): void {
    const outage = server.answered(performance.now());
    if (!outage) return;
    this.#probed.get(outage)?.();
    this.#emit(server, "up", { address: outage.address, downMs: Date.now() - outage.since });
  }

  /** Called if a call on `key` that began at `beganAtMs` got no answer. */
  failed(server: ServerHealth, key: string, beganAtMs: number, cause: unknown): void {
    const nowMs = performance.now();
    if (server.outage) server.outage.failed(nowMs, cause);
    else if (server.failed(beganAtMs, nowMs, this.#deadlineMs) && !this.#isClosed) {
      if (server.replacesLostCheck(beganAtMs)) this.#markDown(server, key, cause);
      else if (!this.#checks.has(server) || !server.isBeingChecked(nowMs)) {
        server.beginCheck(nowMs);
        this.#checks.set(server, this.#confirm(server, key, cause));
      }
    }
  }

  /** Called if the server answered that it takes no calls for now. It counts as down at once. */
  refused(server: ServerHealth, key: string, cause: unknown): void {
    if (server.outage) server.outage.failed(performance.now(), cause);
    else if (!this.#isClosed) this.#markDown(server, key, cause);
  }

  /** Resolves when the check has ended whether the server is down. Undefined without one. */
  checkOf(server: ServerHealth): Promise<unknown> | undefined {
    if (this.#checks.size === 0) return undefined;
    const ended = this.#checks.get(server);
    if (ended && server.isBeingChecked(performance.now())) return within(ended, CHECK_LOST_MS);
    this.#checks.delete(server);
    return undefined;
  }

  /** Settles with `ready`, or when a server is found to be down. */
  orDown(ready: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const forget = () => this.#wakers.delete(resolve);
      this.#wakers.add(resolve);
      ready.then(
        () => forget() && resolve(),
        (error) => forget() && reject(error),
      );
    });
  }

  get state(): StoreHealth {
    const servers = [this.#single, ...(this.#client.nodes?.all ?? [])];
    const outages = servers.flatMap(({ outage }) => outage ?? []);
    const [first] = outages.sort((a, b) => a.since - b.since);
    if (first) return { state: "down", since: first.since, reason: first.reason, address: first.address };
    const since = Math.max(...servers.map(({ upSince }) => upSince));
    return { state: "up", since, reason: undefined, address: this.#single.address };
  }

  on<Name extends keyof StoreEvents>(name: Name, listener: (event: StoreEvents[Name]) => void): () => void {
    this.#single.watchers.add(this);
    return this.listeners.on(name, listener);
  }

  close(): void {
    this.#isClosed = true;
    this.#single.watchers.delete(this);
    for (const [outage, endPause] of [...this.#probed]) {
      outage.release();
      endPause();
    }
  }

  /**
   * Asks the server once more before it counts as down, and lets calls wait for that. A slow or lost answer is no
   * outage, nor are answers that a frozen or busy process has not read yet.
   */
  async #confirm(server: ServerHealth, key: string, cause: unknown): Promise<void> {
    const untilMs = performance.now() + Math.min(MAX_CONFIRM_MS, this.#deadlineMs / 4);
    const isSilent = () => !this.#isClosed && !server.outage && server.isSilent(performance.now(), this.#deadlineMs);
    for (let leftMs = 1; isSilent() && leftMs > 0; leftMs = untilMs - performance.now()) {
      await probe(this.#client, key, untilMs - performance.now(), () => this.answered(server));
      await pause(CONFIRM_PAUSE_MS);
    }
    this.#checks.delete(server);
    const isDown = isSilent();
    server.endCheck();
    if (isDown) this.#markDown(server, key, cause);
  }

  #markDown(server: ServerHealth, key: string, cause: unknown): void {
    const outage = server.markDown(key, cause);
    for (const wake of this.#wakers) wake();
    this.#wakers.clear();
    void this.#probe(server, outage);
    const { since, reason, address } = outage;
    this.#emit(server, "down", { since, reason, address });
  }

  /** Emits an event on all stores that share the server (HTTP), except a closed one. */
  #emit<Name extends keyof StoreEvents>(server: ServerHealth, name: Name, event: StoreEvents[Name]): void {
    const stores = new Set<{ readonly listeners: Listeners<StoreEvents> }>(server.watchers);
    if (!this.#isClosed) stores.add(this);
    for (const { listeners } of stores) listeners.emit(name, event);
  }

  async #probe(server: ServerHealth, outage: Outage): Promise<void> {
    this.#probed.set(outage, () => {});
    const isOver = () => this.#isClosed || server.outage !== outage;
    const answered = () => this.answered(server);
    for (let maxMs = this.#deadlineMs; !isOver(); ) {
      const nowMs = performance.now();
      if (!outage.begin(nowMs, maxMs)) {
        await this.#pause(outage, outage.restMs(nowMs));
        continue;
      }
      const { cause, mayBeAnswered } = await probe(this.#client, outage.key, maxMs, answered);
      if (isOver()) break;
      outage.failed(performance.now(), cause);
      // A frozen server answers all written probes when it continues, so only few are written.
      maxMs = mayBeAnswered ? Math.min(2 * maxMs, Math.max(MAX_PROBE_MS, this.#deadlineMs)) : this.#deadlineMs;
    }
    this.#probed.delete(outage);
  }

  /** Does not keep the process alive. */
  #pause(outage: Outage, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = idleTimeout(end, ms);
      this.#probed.set(outage, end);
    });
  }
}
