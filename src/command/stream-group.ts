import type { Cluster, Redis } from "ioredis";
import { connected, redisClient, type ServerTyped } from "./config/redis-client.ts";

const LEASE_MS = 10_000;
const MAX_ENTRIES = 1000;
const MAX_BLOCK_MS = 1000;
const MAX_SLOTS = 4096;
const MAX_CONFIRMATION_MS = 1000;

export interface StreamEntry {
  id: string;
  /** Undefined if the stream was trimmed after the entry was delivered. */
  fields: Record<string, string> | undefined;
}

type StreamReply = [stream: string, entries: [id: string, fields: string[] | null][]];

/**
 * One worker of a consumer group of a Redis stream. Its consumer name is the first free slot of w0, w1, .... Delivered
 * entries belong to a consumer name until they are acknowledged, whichever process uses the name. Two processes with
 * one name do no harm, since each entry is counted once.
 */
export class StreamGroup {
  readonly #stream: string;
  readonly #group: string;
  readonly #replicas: number;
  readonly #client: Redis | Cluster;
  /** Used for blocking reads only, so that other commands do not wait behind them. */
  readonly #waiting: Redis | Cluster;
  consumer = "";

  /** `replicas`: the number of replicas that must have a delivery before `pending` returns it. */
  constructor(server: ServerTyped, stream: string, group: string, replicas: number) {
    this.#stream = stream;
    this.#group = group;
    this.#replicas = replicas;
    this.#client = redisClient(server);
    this.#waiting = redisClient(server);
  }

  /** Rejects with the signal's reason when it aborts. */
  async open(signal: AbortSignal): Promise<void> {
    await Promise.all([connected(this.#client, signal), connected(this.#waiting, signal)]);
    await this.#client.xgroup("CREATE", this.#stream, this.#group, "0", "MKSTREAM").catch((error: Error) => {
      if (!error.message.startsWith("BUSYGROUP")) throw error;
    });
    for (let slot = 0; this.consumer === ""; slot++) {
      const isFree =
        slot >= MAX_SLOTS || (await this.#client.set(this.#leaseOf(`w${slot}`), "1", "PX", LEASE_MS, "NX"));
      if (isFree) this.consumer = `w${slot}`;
    }
  }

  /** Renews the lease of the slot. */
  async renew(): Promise<void> {
    await this.#client.set(this.#leaseOf(this.consumer), "1", "PX", LEASE_MS);
  }

  /**
   * Requests new entries for this consumer. Resolves to false if there are none. Only `pending` returns the entries, so
   * that a lost reply loses none.
   */
  async fetch(isWaiting: boolean): Promise<boolean> {
    const block = isWaiting ? (["BLOCK", MAX_BLOCK_MS] as const) : [];
    const command = ["GROUP", this.#group, this.consumer, "COUNT", MAX_ENTRIES, ...block];
    return (await this.#waiting.call("XREADGROUP", ...command, "STREAMS", this.#stream, ">")) !== null;
  }

  /**
   * The delivered and unacknowledged entries of a consumer, oldest first. Rejects if too few replicas have the
   * delivery. The next primary would deliver it to another consumer, or lack its entries and reuse their ids.
   */
  async pending(consumer: string): Promise<StreamEntry[]> {
    const command = ["GROUP", this.#group, consumer, "COUNT", MAX_ENTRIES, "STREAMS", this.#stream, "0"];
    const together = this.#client.pipeline().call("XREADGROUP", ...command);
    // WAIT covers the writes of its own connection. This write follows everything that was read.
    if (this.#replicas > 0)
      together.set(this.#leaseOf(this.consumer), "1", "PX", LEASE_MS).call("WAIT", this.#replicas, MAX_CONFIRMATION_MS);
    const answers = (await together.exec()) ?? [];
    const failed = answers.find(([error]) => error);
    if (failed) {
      await this.renew(); // a single command follows a moved slot, a pipeline does not
      throw failed[0];
    }
    const [read, , confirmed] = answers.map(([, answer]) => answer);
    if (this.#replicas > 0 && Number(confirmed) < this.#replicas)
      throw new Error(`${confirmed} of ${this.#replicas} replicas have the entries delivered to ${consumer}`);
    // [stream, entries], in RESP2 within one more list.
    const reply = read as StreamReply | [StreamReply] | null;
    const [, list] = (Array.isArray(reply?.[0]) ? reply[0] : (reply ?? ["", []])) as StreamReply;
    return list.map(([id, fields]) => ({ id, fields: fields === null ? undefined : pairsOf(fields) }));
  }

  async acknowledge(entries: readonly StreamEntry[]): Promise<void> {
    await this.#client.xack(this.#stream, this.#group, ...entries.map(({ id }) => id));
  }

  /** The number of entries delivered to any consumer and not acknowledged. */
  async pendingOfAll(): Promise<number> {
    const [pending] = (await this.#client.xpending(this.#stream, this.#group)) as [number];
    return Number(pending);
  }

  /** Consumers with pending entries whose lease has expired. */
  async abandoned(): Promise<string[]> {
    const consumers = (await this.#client.call("XINFO", "CONSUMERS", this.#stream, this.#group)) as unknown[];
    const abandoned: string[] = [];
    for (const one of consumers) {
      const { name, pending } = Array.isArray(one) ? pairsOf(one) : (one as Record<string, string>);
      if (name === undefined || name === this.consumer || Number(pending) === 0) continue;
      if ((await this.#client.exists(this.#leaseOf(name))) === 0) abandoned.push(name);
    }
    return abandoned;
  }

  async close(): Promise<void> {
    // If this fails, the lease expires by itself.
    if (this.consumer !== "") await this.#client.del(this.#leaseOf(this.consumer)).catch(() => {});
    this.#client.disconnect();
    this.#waiting.disconnect();
  }

  #leaseOf(consumer: string): string {
    return `oriel:{${this.#stream}}:group:${this.#group}:${consumer}`;
  }
}

function pairsOf(list: readonly unknown[]): Record<string, string> {
  const pairs: Record<string, string> = Object.create(null);
  for (let i = 0; i + 1 < list.length; i += 2) pairs[String(list[i])] = String(list[i + 1]);
  return pairs;
}
