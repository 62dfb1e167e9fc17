import { connect, type Socket } from "node:net";
import { type Deferred, deferred } from "../../../src/async/deferred.ts";
import { pause } from "../../../src/async/timers.ts";
import { placed } from "../../../src/place.ts";
import type { Argument, Script, WatchedStore } from "../../../src/store/contract.ts";
import { type Attempt, type ScriptClient, ServerError } from "../../../src/store/delivery/client.ts";
import { type ScriptStoreOptions, scriptStore } from "../../../src/store/delivery/script-store.ts";
import { scripts } from "../../../src/store/delivery/scripting.ts";
import { STORE_CLOSED } from "../../../src/store/health/client-reasons.ts";
import { encodeCommand } from "../../../src/store/redis/resp.ts";
import { type Reply, RespReader } from "./resp-reader.ts";

const RECONNECT_MS = 20;

/** A request that was written, in the order of the replies. */
interface Pending extends Deferred<Reply> {
  readonly sizeBytes: number;
}

// #region store
/** A store over a connection of its own, which ends with the store. */
export function socketStore(port: number, host: string, options: ScriptStoreOptions = {}): WatchedStore {
  return placed("socketStore", () => scriptStore(() => new SocketClient(port, host), options));
}

// #endregion

/** An adapter over a plain socket: one server, scripts by EVALSHA, no TLS, no password. */
class SocketClient implements ScriptClient {
  readonly address: string;
  readonly whyNoReplicas = "over a plain socket, which does not send WAIT";
  lastError: unknown;
  unansweredBytes = 0;
  readonly #port: number;
  readonly #host: string;
  #socket: Socket | undefined;
  #connected: Deferred<void> | undefined = unheard();
  #loaded = new Set<string>();
  #pending: Pending[] = [];
  #isClosed = false;

  constructor(port: number, host: string) {
    this.#port = port;
    this.#host = host;
    this.address = `${host}:${port}`;
    this.#connect();
  }

  whenReady(): Promise<void> | undefined {
    if (this.#isClosed) return Promise.reject(new Error(STORE_CLOSED));
    return this.#connected?.promise;
  }

  // #region calls
  call(script: Script, keys: readonly string[], args: readonly Argument[], _: unknown, isWhole = false): Attempt {
    if (!isWhole && !this.#loaded.has(script.sha)) {
      this.#loaded.add(script.sha);
      this.#send(scripts.loading(script)).catch(() => this.#loaded.delete(script.sha));
    }
    const name = isWhole ? ["EVAL", script.text] : ["EVALSHA", script.sha];
    let mayHaveArrived = this.#socket !== undefined;
    const reply = this.#send([...name, keys.length, ...keys, ...args]);
    reply.catch((error) => {
      if (error instanceof ServerError) mayHaveArrived = false;
    });
    return {
      reply: reply as Promise<unknown[]>,
      mayHaveArrived: () => mayHaveArrived,
      abandon() {}, // a call is written at once or rejects
    };
  }

  forget(script: Script): undefined {
    this.#loaded.delete(script.sha);
  }

  // #endregion

  exists(key: string) {
    return { reply: this.#send(["EXISTS", key]) };
  }

  async info(section: string): Promise<string[]> {
    return [String(await this.#send(["INFO", section]))];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#socket?.destroy();
  }

  #connect(): void {
    const socket = connect(this.#port, this.#host);
    const reader = new RespReader();
    socket.on("connect", () => {
      this.#socket = socket;
      this.lastError = undefined;
      this.#loaded.clear();
      this.#connected!.resolve();
      this.#connected = undefined;
    });
    socket.on("data", (bytes) => {
      for (const reply of reader.push(bytes)) this.#settle(reply);
    });
    socket.on("error", (error) => {
      this.lastError = error;
    });
    socket.on("close", () => void this.#reconnect());
  }

  // #region connection
  #settle(reply: Reply): void {
    const pending = this.#pending.shift()!;
    this.unansweredBytes -= pending.sizeBytes;
    if (reply instanceof ServerError) pending.reject(reply);
    else pending.resolve(reply);
  }

  async #reconnect(): Promise<void> {
    this.#socket = undefined;
    this.lastError ??= new Error("the connection was closed");
    for (const pending of this.#pending.splice(0)) pending.reject(this.lastError);
    this.unansweredBytes = 0;
    this.#connected ??= unheard();
    await pause(RECONNECT_MS);
    if (this.#isClosed) this.#connected.reject(new Error(STORE_CLOSED));
    else this.#connect();
  }

  #send(parts: readonly Argument[]): Promise<Reply> {
    if (!this.#socket) return Promise.reject(this.lastError ?? new Error("there is no connection"));
    const bytes = encodeCommand(parts);
    this.#socket.write(bytes);
    const pending = { ...deferred<Reply>(), sizeBytes: bytes.length };
    this.#pending.push(pending);
    this.unansweredBytes += bytes.length;
    return pending.promise;
  }
  // #endregion
}

/** A promise that may reject when no call waits for it. */
function unheard(): Deferred<void> {
  const connected = deferred();
  connected.promise.catch(() => {});
  return connected;
}
