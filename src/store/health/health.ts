import type { Listeners } from "../../async/listeners.ts";
import { idleTimeout, pause } from "../../async/timers.ts";
import { within } from "../../async/within.ts";
import type { StoreEvents, StoreHealth } from "../contract.ts";
import type { ScriptClient } from "../delivery/client.ts";
import type { Outage } from "./outage.ts";
import { probe } from "./probe.ts";
import { ASKER_LOST_MS, ServerHealth } from "./server-health.ts";
import { storeListeners } from "./store-events.ts";

/** A probe that was written and is not answered is waited for as long, before another is written behind it. */
const LONGEST_PROBE_MS = 30_000;
/** How long a server is waited for that has let a deadline go by, before calls fail at once. */
const LONGEST_CONFIRM_MS = 50;
const CONFIRM_AGAIN_MS = 10;

/**
 * The health of a store, shared by all structures on it: which servers are down, and the probes that find out when they
 * are back. In a cluster each node has its own state, and a call meets that of the node that has its key.
 */
export class Health {
  readonly #client: ScriptClient;
  readonly #deadlineMs: number;
  readonly #single: ServerHealth;
  readonly listeners = storeListeners("store");
  /** Of calls that wait for a connection. */
  readonly #wakers = new Set<() => void>();
  /** The outages that are probed here, and what ends the pause between two probes. */
  readonly #probed = new Map<Outage, () => void>();
  readonly #suspected = new Map<ServerHealth, Promise<void>>();
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

  /** Whether a call must fail at once; where no probe could be begun by a timer, it is the probe itself. */
  refuses(server: ServerHealth): Outage | undefined {
    const { outage } = server;
    return outage?.beginByCall(performance.now(), this.#deadlineMs) ? undefined : outage;
  }

  answered(server: ServerHealth): void {
    const outage = server.answered(performance.now());
    if (!outage) return;
    this.#probed.get(outage)?.();
    this.#tell(server, "up", { address: outage.address, downMs: Date.now() - outage.since });
  }

  /** A call on `key` that began at `beganAtMs` had no answer. */
  failed(server: ServerHealth, key: string, beganAtMs: number, cause: unknown): void {
    const nowMs = performance.now();
    if (server.outage) server.outage.failed(nowMs, cause);
    else if (server.failed(beganAtMs, nowMs, this.#deadlineMs) && !this.#isClosed) {
      if (server.confirms(beganAtMs)) this.#leave(server, key, cause);
      else if (!this.#suspected.has(server) || !server.isAsked(nowMs)) {
        server.suspect(nowMs);
        this.#suspected.set(server, this.#confirm(server, key, cause));
      }
    }
  }

  /** Until it is known whether a server is down that did not answer. */
  suspicionOf(server: ServerHealth): Promise<unknown> | undefined {
    if (this.#suspected.size === 0) return undefined;
    const ended = this.#suspected.get(server);
    if (ended && server.isAsked(performance.now())) return within(ended, ASKER_LOST_MS);
    this.#suspected.delete(server);
    return undefined;
  }

  /** Settles with `ready`, or when a server goes down. */
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

  on<Name extends keyof StoreEvents>(name: Name, listener: (told: StoreEvents[Name]) => void): () => void {
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
   * A slow answer, or a lost one, is no outage, nor is it one where this process was frozen or busy and answers lie
   * unread: the server is asked once more before it counts as down. Calls wait for that.
   */
  async #confirm(server: ServerHealth, key: string, cause: unknown): Promise<void> {
    const untilMs = performance.now() + Math.min(LONGEST_CONFIRM_MS, this.#deadlineMs / 4);
    const isInDoubt = () => !this.#isClosed && !server.outage && server.isSilent(performance.now(), this.#deadlineMs);
    for (let leftMs = 1; isInDoubt() && leftMs > 0; leftMs = untilMs - performance.now()) {
      await probe(this.#client, key, untilMs - performance.now(), () => this.answered(server));
      await pause(CONFIRM_AGAIN_MS);
    }
    this.#suspected.delete(server);
    const isDown = isInDoubt();
    server.endDoubt();
    if (isDown) this.#leave(server, key, cause);
  }

  #leave(server: ServerHealth, key: string, cause: unknown): void {
    const outage = server.leave(key, cause);
    for (const wake of this.#wakers) wake();
    this.#wakers.clear();
    void this.#probe(server, outage);
    const { since, reason, address } = outage;
    this.#tell(server, "down", { since, reason, address });
  }

  /** Stores over HTTP share what is known of a server. One that is closed says nothing more. */
  #tell<Name extends keyof StoreEvents>(server: ServerHealth, name: Name, told: StoreEvents[Name]): void {
    const stores = new Set<{ readonly listeners: Listeners<StoreEvents> }>(server.watchers);
    if (!this.#isClosed) stores.add(this);
    for (const { listeners } of stores) listeners.tell(name, told);
  }

  async #probe(server: ServerHealth, outage: Outage): Promise<void> {
    this.#probed.set(outage, () => {});
    const isOver = () => this.#isClosed || server.outage !== outage;
    const answered = () => this.answered(server);
    for (let longestMs = this.#deadlineMs; !isOver(); ) {
      const nowMs = performance.now();
      if (!outage.begin(nowMs, longestMs)) {
        await this.#pause(outage, outage.restMs(nowMs));
        continue;
      }
      const { cause, mayBeAnswered } = await probe(this.#client, outage.key, longestMs, answered);
      if (isOver()) break;
      outage.failed(performance.now(), cause);
      // What lies on a silent connection is answered when the server goes on: no more of it than needed.
      longestMs = mayBeAnswered
        ? Math.min(2 * longestMs, Math.max(LONGEST_PROBE_MS, this.#deadlineMs))
        : this.#deadlineMs;
    }
    this.#probed.delete(outage);
  }

  /** Keeps no process alive. */
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
