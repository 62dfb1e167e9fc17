import type { Redis } from "ioredis";
import { STATUS } from "../../src/engine/journal/format/answer.ts";
import { constants } from "../../src/engine/journal/format/constants.ts";
import { encodeFrame } from "../../src/engine/journal/format/frames.ts";
import { ChunkSealer } from "../../src/engine/journal/sealed/sealer.ts";
import { append } from "../../src/engine/journal/steps/append.ts";
import { closedKey, rotate } from "../../src/engine/journal/steps/rotate.ts";
import { wasmBlocks } from "../../src/engine/kernel/blocks/choose.ts";
import { jsCodec } from "../../src/engine/kernel/blocks/js/js-codec.ts";
import { activeKernel } from "../../src/engine/kernel/choose.ts";
import { memoryStore } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";

/** The closed chunks of a series. */
export interface Closed {
  keys: string[];
  numbers: number[];
  events: number;
}

/** Records in memory, by a clock that steps by one ms for each event, and copies the chunks to Redis. */
export async function fill(raw: Redis, key: string, column: Float32Array, batch: number): Promise<Closed> {
  const endMs = Date.now();
  let nowMs = endMs - column.length;
  const memory = memoryStore({ clock: () => nowMs, registry: false });
  const closed: Closed = { keys: [], numbers: [], events: 0 };
  let sequence = 0;
  let since = 0;
  for (let from = 0; from < column.length; from += batch) {
    nowMs = endMs - column.length + from;
    const frames = [encodeFrame(1, ++sequence, column.subarray(from, from + batch))];
    const input = { valueType: 0, clock: 0, retentionMs: 10_800_000, voidAfterMs: nowMs + 10_000, birth: 7, frames };
    const { status, header, length } = await memory.run(append, key, { ...input, known: "none" });
    if (status !== STATUS.done) throw new Error(`an append was answered with ${status}`);
    since += Math.min(batch, column.length - from);
    const { number, birth, chunkMs, createdMs } = header!;
    // As a process that seals closes chunks.
    const isAged = length * (nowMs - createdMs) >= constants.minIdleBytes * chunkMs;
    if (!isAged && length < constants.sealedRotateBytes) continue;
    await memory.run(rotate, key, { number, birth, nextBirth: sequence });
    closed.keys.push(closedKey(key, number));
    closed.numbers.push(number);
    closed.events += since;
    since = 0;
  }
  for (const each of [key, ...closed.keys]) {
    const { bytes } = memory.entryOf(each)!.value as { bytes: Uint8Array };
    await raw.set(each, Buffer.from(bytes));
  }
  return closed;
}

/** Seals each closed chunk. */
export async function seal(store: Store, key: string, { numbers }: Closed): Promise<void> {
  const sealer = new ChunkSealer(store, key, () => ({ codec: wasmBlocks() ?? jsCodec, kernel: activeKernel() }));
  for (const number of numbers)
    if ((await sealer.seal(number)) !== "sealed") throw new Error(`chunk ${number} was not sealed`);
}

/** The bytes of the closed chunks for each of their events: STRLEN and MEMORY USAGE. */
export async function sizeOf(raw: Redis, { keys, events }: Closed) {
  let bytes = 0;
  let memory = 0;
  for (const key of keys) {
    bytes += await raw.strlen(key);
    memory += Number(await raw.memory("USAGE", key));
  }
  return { bytesPerEvent: bytes / events, memoryPerEvent: memory / events };
}
