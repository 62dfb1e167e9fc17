import { idleTimeout, unref } from "../../base/async/timers.ts";
import { within } from "../../base/async/within.ts";
import type { ScriptClient } from "../delivery/client.ts";
import { Channels } from "../memory/channels.ts";

/** The used part of a connection that only listens. Its client does not reconnect by itself. */
export interface ListeningClient {
  readonly status: string;
  subscribe(...channels: string[]): Promise<unknown>;
  unsubscribe(...channels: string[]): Promise<unknown>;
  ping(): Promise<unknown>;
  disconnect(): void;
  // biome-ignore lint/suspicious/noExplicitAny: the versions declare different types of listeners
  on(event: string, listener: (...args: any[]) => void): unknown;
  readonly stream?: unknown;
}

const MAX_PAUSE_MS = 2000;
/** A server that refuses SUBSCRIBE is asked again after this time, because rights may change. */
const REFUSED_MS = 60_000;
/** As many connections that end instead of an answer to SUBSCRIBE are a refusal, too. */
const MAX_CUTS = 3;
/** The server's own errors that do not pass by themselves: a right, a command or a module is missing. */
const REFUSAL = /^(?:NOPERM|ERR)\b/;
/** A connection that only listens would not notice that a proxy has dropped it. */
const HEARTBEAT_MS = 20_000;
const MAX_SILENCE_MS = 1000;

/**
 * The subscriptions of one store, on a separate connection that the first subscription opens. A listener is called for
 * each message. It is also called each time its subscription is established, since earlier messages may have been
 * missed. The connection keeps no process alive. It is reopened as long as there are listeners. After a refusal of
 * SUBSCRIBE it stays closed for a minute, and all listeners are called once, so that they begin to poll. They are called a last
 * time when the store is closed.
 */
export class Subscriber {
  readonly #open: () => ListeningClient | undefined;
  readonly #channels = new Channels();
  /** Channels whose subscription the server has confirmed on this connection. */
  readonly #confirmed = new Set<string>();
  #connection: ListeningClient | undefined;
  #pause: ReturnType<typeof setTimeout> | undefined;
  #heartbeat: ReturnType<typeof setInterval> | undefined;
  #failures = 0;
  #cuts = 0;
  #refusedUntilMs = Number.NEGATIVE_INFINITY;
  #onRefused: ((why: string) => void) | undefined;
  #isClosed = false;

  /** `open` returns a new connection, or undefined while there is no node to connect to. */
  constructor(open: () => ListeningClient | undefined) {
    this.#open = open;
  }

  /** `subscribe`, or undefined while the server is known to refuse it. */
  get offered(): ScriptClient["subscribe"] | undefined {
    return this.#isRefused ? undefined : this.#subscribe;
  }

  get #isRefused(): boolean {
    return performance.now() < this.#refusedUntilMs;
  }

  readonly #subscribe: NonNullable<ScriptClient["subscribe"]> = (channel, listener, onRefused) => {
    this.#onRefused = onRefused;
    const isNew = !this.#channels.has(channel);
    this.#channels.add(channel, listener);
    if (!this.#connection && !this.#pause) this.#connect();
    else if (this.#confirmed.has(channel)) queueMicrotask(() => listener());
    else if (isNew) this.#ask([channel]);
    return () => {
      this.#channels.delete(channel, listener);
      if (this.#channels.has(channel)) return;
      this.#confirmed.delete(channel);
      if (this.#connection?.status === "ready") this.#connection.unsubscribe(channel).catch(() => {});
    };
  };

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#pause);
    clearInterval(this.#heartbeat);
    this.#connection?.disconnect();
    this.#channels.callAll();
  }

  #connect(): void {
    this.#pause = undefined;
    if (this.#isClosed) return;
    const connection = this.#open();
    if (!connection) {
      this.#connectLater();
      return;
    }
    this.#connection = connection;
    if (!this.#heartbeat) {
      this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS);
      unref(this.#heartbeat);
    }
    connection.on("error", () => {});
    connection.on("message", (channel: string, message: string) => this.#channels.call(channel, message));
    connection.on("ready", () => {
      unref(connection.stream);
      this.#ask(this.#channels.names);
    });
    connection.on("close", () => this.#confirmed.clear());
    connection.on("end", () => {
      this.#connection = undefined;
      this.#connectLater();
    });
  }

  /** Closes the connection, so that a new one is opened, unless the server answers. */
  async #beat(): Promise<void> {
    const connection = this.#connection;
    if (connection?.status !== "ready") return;
    const { kind } = await within(connection.ping(), MAX_SILENCE_MS, true);
    if (kind === "late") connection.disconnect();
  }

  #connectLater(): void {
    if (this.#isClosed || this.#channels.names.length === 0) return;
    const backoffMs = Math.min(10 * 2 ** Math.min(this.#failures++, 10), MAX_PAUSE_MS) * (0.5 + Math.random() / 2);
    const pauseMs = this.#isRefused ? REFUSED_MS : backoffMs;
    clearTimeout(this.#pause);
    this.#pause = idleTimeout(() => this.#connect(), pauseMs);
  }

  #ask(channels: string[]): void {
    const connection = this.#connection;
    if (connection?.status !== "ready" || channels.length === 0) return;
    connection.subscribe(...channels).then(
      () => {
        this.#failures = 0;
        this.#cuts = 0;
        for (const channel of channels) {
          if (!this.#channels.has(channel)) continue;
          this.#confirmed.add(channel);
          this.#channels.call(channel);
        }
      },
      ({ message }: Error) => {
        if (REFUSAL.test(message)) this.#refused(message);
        else if (++this.#cuts >= MAX_CUTS) this.#refused("it closes the connection");
        connection.disconnect();
      },
    );
  }

  #refused(why: string): void {
    if (this.#isClosed || this.#isRefused) return;
    this.#refusedUntilMs = performance.now() + REFUSED_MS;
    if (this.#pause) this.#connectLater();
    this.#onRefused?.(why);
    this.#channels.callAll();
  }
}

/** One of them by chance. In a cluster every node receives all messages. */
export function anyOf<T>(nodes: readonly T[]): T | undefined {
  return nodes[Math.floor(Math.random() * nodes.length)];
}
