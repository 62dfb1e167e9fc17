// A series in Redis that is filled by steps on a stepped clock, and the events that a reader counts in it, by the definition.
import type { Redis } from "ioredis";
import { composeFunction, luaFolder } from "../../../scripts/lua/compose-script.mjs";
import { STATUS } from "../../../src/engine/journal/format/answer.ts";
import { type ChunkHeader, degradedOf, seriesNowMs } from "../../../src/engine/journal/format/chunk.ts";
import { constants } from "../../../src/engine/journal/format/constants.ts";
import { encodeFrame } from "../../../src/engine/journal/format/frames.ts";
import { JournalReader } from "../../../src/engine/journal/replica/journal-reader.ts";
import { ChunkSealer, type SealOutcome } from "../../../src/engine/journal/sealed/sealer.ts";
import { append } from "../../../src/engine/journal/steps/append.ts";
import { read } from "../../../src/engine/journal/steps/read.ts";
import { closedKey, rotate } from "../../../src/engine/journal/steps/rotate.ts";
import { jsCodec } from "../../../src/engine/kernel/blocks/js/js-codec.ts";
import { activeKernel } from "../../../src/engine/kernel/choose.ts";
import { deleteJournal } from "../../../src/engine/series/session/journal-delete.ts";
import type { IoredisClient } from "../../../src/store/redis/ioredis-client.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import { onSteppedClock } from "../../harness/clock/stepped-script.ts";
import { valuesOf } from "../../kernel/blocks/shapes.ts";
import { randomOf } from "../../kernel/columns.ts";
import { countedOf, type Frame, SHAPES } from "../sealed/raw-chunks.ts";

/** Ahead of any server's clock: 2100. */
export const START_MS = Date.UTC(2100, 0, 1);
const NAME = "window";

/** The text of the function as a library. Its clock is the key "clock". */
export const steppedLibrary = composeFunction(`${luaFolder}/journal/window.lua`, {
  "store/read-clock": `local function read_clock_us() return 1000 * (tonumber(redis.call("GET", "clock")) or 0) end`,
});
/** The same as a script. */
const steppedScript = steppedLibrary.slice(steppedLibrary.indexOf("\n") + 1);

export class RandomJournal {
  readonly key: string;
  nowMs = START_MS;
  retentionMs: number;
  readonly #store: ReturnType<typeof redisStore>;
  readonly #random: () => number;
  readonly #valueType: number;
  readonly #clock: number;
  readonly #shape: string;
  readonly #next = new Map<number, number>([
    [7, 0],
    [0xffff_fff0, 0xffff_fffe],
    [3, 100],
  ]);
  #frames: Frame[] = [];

  /** A shape of test/kernel/blocks/shapes.ts, 0 f32 or 1 f64, 0 server or 1 event clock. Without them each is random. */
  constructor(redis: Redis, seed: number, shape?: string, valueType?: number, clock?: number) {
    this.#random = randomOf(seed * 7919);
    const now = () => this.nowMs;
    const stepped = { scriptOf: onSteppedClock(now), monotonic: now, registry: false };
    this.#store = redisStore(redis as unknown as IoredisClient, stepped);
    this.key = this.#store.keyOf(NAME);
    this.retentionMs = [60_000, 90_000, 3_600_000][this.below(3)]!;
    this.#shape = shape ?? SHAPES[this.below(SHAPES.length)]!;
    this.#valueType = valueType ?? this.below(2);
    this.#clock = clock ?? this.below(2);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  below(n: number): number {
    return Math.floor(n * this.#random());
  }

  /** The events that count. */
  get events(): { t: number; value: number }[] {
    return countedOf(this.#frames).flatMap(({ times, values }) => times.map((t, i) => ({ t, value: values[i]! })));
  }

  /** Appends one batch of these values, with the server's time. */
  async record(values: readonly number[]): Promise<void> {
    await this.#append([{ producer: 3, sequence: this.#sequenceOf(3), values: [...values], times: [] }]);
  }

  async header(): Promise<{ header: ChunkHeader | undefined; nowMs: number }> {
    return this.#store.run(read, this.key, "header");
  }

  /** Appends some frames in one call: of one event or many, with and without times of their own, and copies of earlier ones. */
  async append(most: number): Promise<void> {
    await this.#append(Array.from({ length: 1 + this.below(4) }, () => this.#frame(most)));
  }

  async #append(made: readonly Omit<Frame, "stampMs">[]): Promise<void> {
    const frames = made.map(({ producer, sequence, values, times }) => {
      const column = this.#valueType === 1 ? Float64Array.from(values) : Float32Array.from(values);
      return encodeFrame(producer, sequence, column, times.length > 0 ? times : undefined);
    });
    const birth = 1 + this.below(1e6);
    const shape = { valueType: this.#valueType, clock: this.#clock, retentionMs: this.retentionMs, birth };
    const input = { ...shape, voidAfterMs: this.nowMs + 10_000, frames, known: "none" as const };
    const { status, verdicts, header } = await this.#store.run(append, this.key, input);
    // After a delete, requests from before it are refused for a while.
    if (status === STATUS.void) return;
    if (status !== STATUS.done) throw new Error(`append refused with ${status}`);
    const stampMs = header!.lastStampMs;
    for (const [i, frame] of made.entries()) {
      if (verdicts[i] !== 0) continue;
      const times = frame.times.length > 0 ? frame.times : frame.values.map(() => stampMs);
      this.#frames.push({ ...frame, stampMs, times });
    }
  }

  #frame(most: number): Omit<Frame, "stampMs"> {
    // All copies of a frame have stamps within 20 s.
    const recent = this.#frames.filter(({ stampMs }) => this.nowMs - stampMs < 9000);
    if (this.#random() < 0.15 && recent.length > 0) {
      const { stampMs: _, ...copied } = recent[this.below(recent.length)]!;
      const isStamped = copied.times.every((ms) => ms === copied.times[0]);
      return isStamped && this.#random() < 0.9 ? { ...copied, times: [] } : copied;
    }
    const producers = [...this.#next.keys()];
    const producer = producers[this.below(producers.length)]!;
    const sequence = this.#sequenceOf(producer);
    const count = this.#random() < 0.4 ? 1 : 1 + this.below(most);
    const values = [...valuesOf(this.#shape, this.#valueType === 1 ? Float64Array : Float32Array, count, this.#random)];
    const isDated = this.#random() < 0.3;
    const lead = this.#random() < 0.3 ? constants.earlyMs : 5000;
    const lag = this.#random() < 0.5 ? 50 : 30_000;
    const times = isDated ? values.map(() => this.nowMs + lead - this.below(lag)) : [];
    return { producer, sequence, values, times };
  }

  /** The next one, rarely with a gap. */
  #sequenceOf(producer: number): number {
    const sequence = this.#next.get(producer)!;
    this.#next.set(producer, (sequence + (this.#random() < 0.05 ? 3 : 1)) >>> 0);
    return sequence;
  }

  async rotate(): Promise<void> {
    const { header } = await this.header();
    if (!header) return;
    const { number, birth } = header;
    await this.#store.run(rotate, this.key, { number, birth, nextBirth: 1 + this.below(1e6) });
  }

  /** The closed chunks' numbers, newest first. */
  async closed(): Promise<number[]> {
    const { header } = await this.header();
    const numbers: number[] = [];
    for (let number = (header?.number ?? 0) - 1; header; number--) {
      if (!(await this.#store.run(read, closedKey(this.key, number), "header")).header) return numbers;
      numbers.push(number);
    }
    return numbers;
  }

  seal(number: number): Promise<SealOutcome> {
    return new ChunkSealer(this.#store, this.key, () => ({ codec: jsCodec, kernel: activeKernel() })).seal(number);
  }

  async delete(): Promise<void> {
    await deleteJournal(this.#store, this.key, new JournalReader(this.#store, this.key));
    this.#frames = [];
  }

  /** Why a window from `fromMs` may lack events. */
  async degradedBy(fromMs: number): Promise<string | undefined> {
    const { header, nowMs } = await this.header();
    return header && degradedOf({ header, nowMs, missing: false, coversUntilMs: 0 }, fromMs, undefined);
  }

  async presentMs(): Promise<number> {
    const { header, nowMs } = await this.header();
    return header ? seriesNowMs(header, nowMs) : nowMs;
  }
}

/** The reply of the function as an object. */
export async function asked(redis: Redis, journal: RandomJournal, how: "EVAL" | "FCALL", ...args: (number | string)[]) {
  await redis.set("clock", journal.nowMs);
  const what = how === "EVAL" ? steppedScript : "oriel_window";
  return pairsOf(await redis.call(how, what, "1", journal.key, ...args));
}

/** Name and value pairs as an object. */
function pairsOf(reply: unknown): Record<string, string> {
  const words = reply as string[];
  return Object.fromEntries(words.flatMap((name, i) => (i % 2 === 0 ? [[name, words[i + 1]!]] : [])));
}
