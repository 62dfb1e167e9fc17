import { within } from "../../base/async/within.ts";
import type { WatchedStore } from "../../store/contract.ts";

/** One connection to the server. It never reconnects and never repeats a command. */
export interface Connection {
  /**
   * Resolves to the reply as text, numbers and arrays, or to a `ServerError` if the server answered with an error. Rejects
   * if no answer can come any more.
   */
  send(words: readonly string[]): Promise<unknown>;
  /** Subscribes to a channel. Absent if the transport has no subscriptions. Settles as `send` does. */
  subscribe?(channel: string, listener: () => void): Promise<unknown>;
  /** The reason why there is no connection, after `send` rejected or was late. */
  readonly lastError: Error | undefined;
  close(): void;
}

/** Without a host, the one of the target. */
export interface NodeAddress {
  readonly host: string | undefined;
  readonly port: number;
}

/** The examined server. */
export interface DoctorTarget {
  /** Host and port, URL or path, without credentials. */
  readonly address: string | undefined;
  readonly isTls: boolean;
  /** The user of the URL. Undefined without one. */
  readonly user: string | undefined;
  readonly secrets: readonly string[];
  readonly prefix: string;
  /** Opens another connection, to the same server or to another node with the same credentials. */
  open(node?: NodeAddress): Connection;
  /** Opens a store as a program would, with a cluster's client if `isCluster`. */
  openStore(isCluster: boolean): WatchedStore;
}

/** No answer came within the deadline, or the connection is lost. */
export class Unanswered extends Error {
  override readonly name = "Unanswered";
}

/** Sends commands, each within a deadline. */
export class Asker {
  readonly connection: Connection;
  readonly deadlineMs: number;

  constructor(connection: Connection, deadlineMs: number) {
    this.connection = connection;
    this.deadlineMs = deadlineMs;
  }

  /** Resolves to the reply, or to the server's error. Rejects with `Unanswered`. */
  async ask(...words: string[]): Promise<unknown> {
    return this.settled(this.connection.send(words));
  }

  async settled(reply: Promise<unknown>): Promise<unknown> {
    const outcome = await within(reply, this.deadlineMs);
    if (outcome.kind === "done") return outcome.value;
    const { lastError } = this.connection;
    const cause = lastError ?? (outcome.kind === "failed" ? outcome.error : undefined);
    throw new Unanswered(`no answer within ${this.deadlineMs} ms`, { cause });
  }

  /** The text of sections of INFO, or the server's error. */
  info(...sections: string[]): Promise<unknown> {
    return this.ask("INFO", ...sections);
  }
}
