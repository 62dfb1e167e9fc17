import { pause } from "../base/async/timers.ts";
import { argumentError } from "../base/errors.ts";
import { type CountedEvent, Counters } from "../entries/index.ts";
import { openStore } from "./config/open-store.ts";
import type { ServerTyped } from "./config/redis-client.ts";
import { Output, type Streams } from "./output.ts";
import { type StreamEntry, StreamGroup } from "./stream-group.ts";
import { jsonLine, oneLine } from "./text/safe-text.ts";

export interface CountTyped extends ServerTyped {
  stream: string;
  group: string;
  dimensions: string;
  addedDimensions?: string;
  name?: string;
  count?: string;
  at?: string;
  shards: string;
  replicas: string;
  once?: boolean;
  json?: boolean;
}

const RENEW_MS = 3000;
const PAUSE_MS = 200;
const MAX_WARNED = 5;

/**
 * Counts the entries of a stream, each once, until SIGINT or SIGTERM; with `--once` until no entries are left. Each
 * process of this command is one worker. Resolves to 0, or 1 if entries could not be read. Unacknowledged entries of a
 * killed worker are counted by the others.
 */
export async function count(typed: CountTyped, streams: Streams): Promise<number> {
  const warn = (text: string) =>
    void streams.stderr.write(
      typed.json ? jsonLine({ code: "WARNING", message: text }) : `oriel count: ${oneLine(text)}\n`,
    );
  const store = openStore(typed, { onWarning: warn });
  const output = new Output(streams.stdout);
  const stop = new AbortController();
  const interrupt = () => stop.abort();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt);
  const group = new StreamGroup(typed, typed.stream, typed.group, Number(typed.replicas));
  // A failure is ignored: the next renewal retries, and another worker takes over when the lease expires.
  const renewing = setInterval(() => group.renew().catch(() => {}), RENEW_MS);
  try {
    const counters = new Counters(store, typed.name ?? typed.stream, {
      dimensions: typed.dimensions.split(","),
      addedDimensions: typed.addedDimensions?.split(",") ?? [],
      shards: Number(typed.shards),
      replicas: Number(typed.replicas),
    });
    await group.open(stop.signal);
    const worker = new StreamWorker(counters, group, typed, warn);
    const begin = { consumer: group.consumer, group: typed.group, stream: typed.stream, name: counters.name };
    await output.write(typed.json ? jsonLine(begin) : beginText(begin));
    for (let isOver = false; !isOver && !stop.signal.aborted; ) {
      const isBusy = await worker.turn(typed.once !== true);
      if (!isBusy && typed.once === true) isOver = await worker.isDone();
    }
    const { counted, bad } = worker;
    const end = `oriel count: ${counted} entries counted, ${bad} could not be read\n`;
    await output.write(typed.json ? jsonLine({ counted, bad }) : end);
    return worker.bad === 0 ? 0 : 1;
  } catch (error) {
    if (stop.signal.aborted && error === stop.signal.reason) return 0; // stopped before it had begun
    throw error;
  } finally {
    clearInterval(renewing);
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, interrupt);
    await group.close();
    await store.close();
  }
}

function beginText({
  consumer,
  group,
  stream,
  name,
}: Record<"consumer" | "group" | "stream" | "name", string>): string {
  return `${oneLine(`oriel count: ${consumer} of ${group} counts ${stream} as ${name}`)}\n`;
}

class StreamWorker {
  counted = 0;
  bad = 0;
  readonly #counters: Counters;
  readonly #group: StreamGroup;
  readonly #typed: CountTyped;
  readonly #warn: (text: string) => void;
  #checkedAtMs = Number.NEGATIVE_INFINITY;

  constructor(counters: Counters, group: StreamGroup, typed: CountTyped, warn: (text: string) => void) {
    this.#counters = counters;
    this.#group = group;
    this.#typed = typed;
    this.#warn = warn;
  }

  /** Returns false if there was nothing to count. Temporary failures are printed; the next turn tries again. */
  async turn(isWaiting: boolean): Promise<boolean> {
    try {
      let isBusy = await this.#countPending(this.#group.consumer);
      if (performance.now() - this.#checkedAtMs > RENEW_MS || !isWaiting) {
        this.#checkedAtMs = performance.now();
        for (const consumer of await this.#group.abandoned()) isBusy = (await this.#countPending(consumer)) || isBusy;
      }
      return (await this.#group.fetch(isWaiting && !isBusy)) || isBusy;
    } catch (error) {
      if ((error as { code?: string }).code === "ARGUMENT" || (error as { code?: string }).code === "MISMATCH")
        throw error;
      this.#warn(`${(error as Error).message}; trying again`);
      await pause(PAUSE_MS);
      return true;
    }
  }

  /** Whether no worker has entries left to count. */
  async isDone(): Promise<boolean> {
    if ((await this.#group.pendingOfAll()) === 0) return true;
    await pause(PAUSE_MS); // another worker counts them, or they belong to a killed one
    return false;
  }

  /** Counts the pending entries of a consumer in order, so that each shard's last offset says which are counted. */
  async #countPending(consumer: string): Promise<boolean> {
    const { stream, group } = this.#typed;
    const source = [stream, group, consumer].map(encodeURIComponent).join("/");
    for (let turns = 0; ; turns++) {
      const entries = await this.#group.pending(consumer);
      if (entries.length === 0) return turns > 0;
      const events = entries.map((entry) => ({ entry, event: this.#eventOf(entry) }));
      const good = events.filter(({ event }) => event !== undefined);
      await this.#counters.addBatch(
        source,
        good.map(({ entry }) => offsetOf(entry.id)),
        good.map(({ event }) => event!),
      );
      await this.#group.acknowledge(entries);
      this.counted += good.length;
    }
  }

  #eventOf({ id, fields }: StreamEntry): CountedEvent | undefined {
    const { count, at } = this.#typed;
    try {
      if (fields === undefined)
        throw argumentError("entry", id, "an entry that is still in the stream; it was trimmed");
      const { dimensions, added = 0 } = this.#counters.shape;
      const first = dimensions.length - added;
      // A writer of entries may not know an added dimension.
      const values = Object.fromEntries(
        dimensions.map((name, i) => [name, i < first ? fields[name]! : (fields[name] ?? "")]),
      );
      const event = {
        values,
        count: count === undefined ? 1 : Number(fields[count]),
        at: at === undefined ? Number(id.split("-")[0]) : Number(fields[at]),
      };
      this.#counters.check(event);
      return event;
    } catch (error) {
      if (++this.bad <= MAX_WARNED) this.#warn(`entry ${id}: ${(error as Error).message}`);
      return undefined;
    }
  }
}

/** "ms-sequence", both up to 64 bits, as one number. */
function offsetOf(id: string): bigint {
  const [ms, sequence] = id.split("-");
  return (BigInt(ms!) << 64n) | BigInt(sequence!);
}
