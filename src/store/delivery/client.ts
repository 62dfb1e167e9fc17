import type { Argument, Script } from "../contract.ts";
import type { ClusterNodes } from "../health/cluster-nodes.ts";
import type { ServerHealth } from "../health/server-health.ts";
import { redacted } from "../secrets.ts";
import type { Confirmation } from "./confirmation.ts";

/** One script call on its way. */
export interface Attempt {
  /**
   * One element per step. Rejects with `ServerError` where the server answered with an error; else the reply is lost,
   * or came and was not confirmed by as many replicas as were asked for.
   */
  readonly reply: Promise<unknown[]>;
  /** False while it is certain that no server has run it: not written yet, or answered with an error. */
  mayHaveArrived(): boolean;
  /** Called when nothing waits for the call any more. A call that was not written must then never be written. */
  abandon(): void;
}

/** The client of a server that runs scripts. Each client library has an adapter that implements it. */
export interface ScriptClient {
  /** Of a cluster: the slot of a key. The keys of one call must lie in one slot. */
  slotOf?(key: string): number;
  /** Of calls that travel together; default 1 MiB. */
  readonly maxBytes?: number;
  /** Host and port, path or URL, without credentials. */
  readonly address?: string | undefined;
  /** True where what lies below it (a runtime's fetch, a proxy) may send a request again without its knowledge. */
  readonly mayResend?: boolean;
  /** Why it cannot wait for replicas, where it cannot. */
  readonly whyNoReplicas?: string;
  /** The last failure of the connection, as cause for errors; without secrets. */
  readonly lastError: unknown;
  /** Bytes of the calls that are written or about to be, and unanswered. */
  readonly unansweredBytes: number;
  /**
   * Undefined when calls can be written now; else a promise after which to ask again. It rejects when the client has
   * ended.
   */
  whenReady(): Promise<void> | undefined;
  /**
   * Sends EVALSHA or FCALL, after the script itself where this connection has not had it yet; where `isWhole`, EVAL
   * with the script's text.
   */
  call(
    script: Script,
    keys: readonly string[],
    args: readonly Argument[],
    confirmation?: Confirmation,
    isWhole?: boolean,
  ): Attempt;
  /** The server does not have it: load it again before the next call. Returns why a server refused to load it last. */
  forget(script: Script): ServerError | undefined;
  /** Sends EXISTS, which every server answers at once that serves `key`. `abandon`: it can be given up. */
  exists(key: string): { readonly reply: Promise<unknown>; abandon?(): void };
  /** In a cluster: the health of its nodes. */
  readonly nodes?: ClusterNodes;
  /** The server's health, if stores share it. */
  readonly health?: ServerHealth;
  /** Text of INFO for one section, of every primary. */
  info(section: string): Promise<string[]>;
  /** As `Store.subscribe`, on a connection of its own. */
  subscribe?(channel: string, listener: (message?: string) => void): () => void;
  close(): Promise<void>;
}

/** An error that the server answered instead of running the script. */
export class ServerError extends Error {
  override readonly name = "ServerError";
}

/** Of what a client made of the answer, its text: clients keep commands and their arguments with it. */
export function serverError({ message }: Error, secrets: readonly string[]): ServerError {
  return new ServerError(redacted(message, secrets));
}
