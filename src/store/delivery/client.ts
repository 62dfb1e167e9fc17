import type { Argument, Script } from "../contract.ts";
import type { ClusterNodes, ServerHealth } from "../health/server-health.ts";
import { redacted } from "../secrets.ts";
import type { Confirmation } from "./confirmation.ts";

/** One script call on its way. */
export interface Attempt {
  /**
   * Resolves to one element per step. Rejects with `ServerError` if the server answered with an error, with
   * `Unconfirmed` if too few replicas confirmed the step, and with any other error if the reply was lost.
   */
  readonly reply: Promise<unknown[]>;
  /** False while it is certain that no server has run it: it was not sent yet, or was answered with an error. */
  mayHaveArrived(): boolean;
  /** Called when the caller stops waiting. A call that was not sent yet must then never be sent. */
  abandon(): void;
}

/** The client of a server that runs scripts. Each client library has an adapter that implements it. */
export interface ScriptClient {
  /** Only for a cluster: the slot of a key. All keys of one call must be in one slot. */
  slotOf?(key: string): number;
  /** Bound on the keys and arguments of one script call, in bytes. Default 1 MiB. */
  readonly maxBytes?: number;
  /** Host and port, path or URL, without credentials. */
  readonly address?: string | undefined;
  /** True if a layer below (a runtime's fetch, a proxy) may send a request again without its knowledge. */
  readonly mayResend?: boolean;
  /** The reason if it cannot wait for replicas, for an error message: "over HTTP, ...". */
  readonly whyNoReplicas?: string;
  /** The last failure of the connection, as the cause of errors. It contains no secrets. */
  readonly lastError: unknown;
  /** True until the first connection is ready or fails. Calls wait for it beyond their deadlines. */
  readonly isOpening?: boolean;
  /** Bytes of the calls that were passed to `call` and not answered yet. */
  readonly unansweredBytes: number;
  /**
   * Undefined if calls can be sent now. Otherwise a promise: call this method again when it resolves. It rejects if
   * waiting does not help, for instance because the client has ended.
   */
  whenReady(): Promise<void> | undefined;
  /**
   * Sends EVALSHA or FCALL. It loads the script first if it has not done so on this connection. With `isWhole` it sends
   * EVAL with the script's text instead.
   */
  call(
    script: Script,
    keys: readonly string[],
    args: readonly Argument[],
    confirmation?: Confirmation,
    isWhole?: boolean,
  ): Attempt;
  /**
   * Called if the server lacks the script. The next call loads it again. Returns the error of the last load, if any.
   */
  forget(script: Script): ServerError | undefined;
  /**
   * Sends EXISTS, which a server that serves `key` answers at once. `abandon` exists if the command can be cancelled.
   */
  exists(key: string): { readonly reply: Promise<unknown>; abandon?(): void };
  /** In a cluster: the health of its nodes. */
  readonly nodes?: ClusterNodes;
  /** The server's health, if stores share it. */
  readonly health?: ServerHealth;
  /** The text of one section of INFO, from each primary. */
  info(section: string): Promise<string[]>;
  /**
   * Same as `Store.subscribe`, on a separate connection. Undefined while the server is known to refuse it. `onRefused` is
   * called with the reason of a refusal.
   */
  readonly subscribe?:
    | ((channel: string, listener: (message?: string) => void, onRefused?: (why: string) => void) => () => void)
    | undefined;
  close(): Promise<void>;
}

/** An error reply of the server to a command. */
export class ServerError extends Error {
  override readonly name = "ServerError";
  /** When the server wishes to be asked again, if it says so. */
  retryAfterMs: number | undefined;
}

/** Copies only the message of a client's error, which may also contain the command and its arguments. */
export function serverError(
  { message, retryAfterMs }: Error & { retryAfterMs?: number | undefined },
  secrets: readonly string[],
): ServerError {
  return Object.assign(new ServerError(redacted(message, secrets)), { retryAfterMs });
}
