import { corruptError } from "../../errors.ts";
import * as layout from "../../generated/layouts/journal.ts";
import { serverStatsFarScript, serverStatsScript } from "../../generated/scripts/summary.ts";
import type { Keyspace, Operation, Script } from "../../store/contract.ts";
import { refusal } from "../../store/refusal.ts";
import type { Closed } from "../../time.ts";
import { STATUS } from "../format/answer.ts";
import { isEmptyFirst, needsOlder } from "../format/chunk.ts";
import type { ChunkBytes } from "../format/chunk-bytes.ts";
import { constants } from "../format/constants.ts";
import { closedKey } from "./rotate.ts";
import { decodeServerAnswer, firstRank, RANKS, type ServerAnswer } from "./server-answer.ts";
import { serverMoments } from "./server-moments.ts";
import { BOUND_TEXT, valuesInside, type WindowChunk } from "./server-window.ts";

export interface ServerStats {
  valueType: number;
  clock: number;
  closed: Closed;
  spanMs: number;
  atMs: number | undefined;
  /** Number of the last closed chunk that the caller knows; undefined: none. */
  newest: number | undefined;
  /** Ascending. */
  percentiles: readonly number[];
}

/** The statuses of append, read and rotate, and three more. */
export const SERVER_STATUS = { ...STATUS, otherKeys: 7, unlinked: 8, sealed: 9 } as const;

/** For at most 7 closed chunks. Each key costs Redis time, and all calls of an operation have the same number of keys. */
export const serverStats = /* @__PURE__ */ statsOver("summary/server-stats", serverStatsScript);
export const serverStatsFar = /* @__PURE__ */ statsOver("summary/server-stats-far", serverStatsFarScript);

/** Computes statistics of one window inside the server. lua/summary/window-stats.lua states the rules. */
function statsOver(name: string, script: Script): Operation<ServerStats, ServerAnswer> {
  const chunkCount = script === serverStatsScript ? 8 : constants.maxServerChunks;
  const closedCount = chunkCount - 1;
  return {
    name,
    script,
    arity: 2,
    keyCount: chunkCount,
    keysOf(key, { newest }) {
      const keys = [key];
      for (let i = 0; i < closedCount; i++) keys.push(newest === undefined ? key : closedKey(key, newest - i));
      return keys;
    },
    repeatable: true,
    encode(input) {
      const view = new DataView(new ArrayBuffer(layout.SERVER_QUERY_BYTES));
      view.setUint8(layout.SERVER_QUERY_VALUE_TYPE_AT, input.valueType);
      view.setUint8(layout.SERVER_QUERY_CLOCK_AT, input.clock);
      view.setUint8(layout.SERVER_QUERY_IS_BOTH_CLOSED_AT, input.closed === "both" ? 1 : 0);
      view.setUint8(layout.SERVER_QUERY_IS_DATED_AT, input.atMs === undefined ? 0 : 1);
      view.setUint32(layout.SERVER_QUERY_NAMED_AT, input.newest === undefined ? 0 : closedCount, true);
      view.setFloat64(layout.SERVER_QUERY_NEWEST_AT, input.newest ?? 0, true);
      view.setFloat64(layout.SERVER_QUERY_SPAN_MS_AT, input.spanMs, true);
      view.setFloat64(layout.SERVER_QUERY_AT_MS_AT, input.atMs ?? 0, true);
      return [new Uint8Array(view.buffer), f64s(input.percentiles)];
    },
    decode: decodeServerAnswer,
    local: (keys, key, input, nowMs) => statsOf(keys, key, input, closedCount, nowMs),
  };
}

function statsOf(keys: Keyspace, key: string, input: ServerStats, closedCount: number, nowMs: number): ServerAnswer {
  const open = keys.get(key) as ChunkBytes | undefined;
  if (!open) return answerOf(SERVER_STATUS.missing, nowMs);
  const { header } = open;
  if (header.format !== constants.format) return answerOf(SERVER_STATUS.foreign, nowMs);
  if (isEmptyFirst(header, open.length)) return answerOf(SERVER_STATUS.missing, nowMs);
  if (header.valueType !== input.valueType || header.clock !== input.clock)
    return answerOf(SERVER_STATUS.mismatch, nowMs, open);

  const seriesNowMs = header.clock === 1 ? header.latestMs : Math.max(nowMs, header.lastStampMs);
  const toMs = input.atMs ?? seriesNowMs;
  const fromMs = toMs - input.spanMs;
  const { status, missing, chunks } = gather(keys, key, open, fromMs, input.newest, closedCount);
  if (status !== SERVER_STATUS.done) return answerOf(status, nowMs, open);
  const values = valuesInside(chunks, input.closed === "both" ? fromMs : fromMs + 1, toMs);
  const sorted = Float64Array.from(values.filter((x) => !Number.isNaN(x))).sort();
  const oldest = chunks[0]!.header;
  return {
    ...answerOf(status, nowMs, open),
    missing,
    coversUntilMs: oldest.clock === 1 ? oldest.latestMs : oldest.createdMs,
    moments: serverMoments(values, sorted),
    ordered: Float64Array.from(sorted.length === 0 ? [] : input.percentiles.flatMap((p) => about(sorted, p))),
  };
}

interface WindowChunks {
  status: number;
  missing: boolean;
  /** Oldest first. */
  chunks: WindowChunk[];
}

function gather(
  keys: Keyspace,
  key: string,
  open: ChunkBytes,
  fromMs: number,
  newest: number | undefined,
  closedCount: number,
): WindowChunks {
  const chunks: WindowChunk[] = [];
  let sizeBytes = 0;
  for (let chunk = open; ; ) {
    const { header } = chunk;
    chunks.unshift({ key: chunk === open ? key : closedKey(key, header.number), header, bytes: chunk.bytes });
    sizeBytes += chunk.length;
    if (sizeBytes > constants.maxServerBytes && chunk === open)
      throw refusal("TOO_LARGE", openTooLarge(sizeBytes, header.chunkMs));
    if (sizeBytes > constants.maxServerBytes)
      throw tooLarge(`the chunks of the window have more than ${constants.maxServerBytes} bytes`);
    if (!needsOlder(header, fromMs)) return { status: SERVER_STATUS.done, missing: false, chunks };
    const place = newest === undefined ? -1 : newest - (header.number - 1);
    if (place < 0 || place >= closedCount) {
      if (chunks.length === constants.maxServerChunks)
        throw tooLarge(`the window covers more than ${constants.maxServerChunks - 1} closed chunks`);
      return { status: SERVER_STATUS.otherKeys, missing: false, chunks };
    }
    const older = keys.get(closedKey(key, newest! - place)) as ChunkBytes | undefined;
    if (!older) return { status: SERVER_STATUS.done, missing: true, chunks };
    const { format, birth } = older.header;
    if (format !== constants.format && format !== constants.sealedFormat)
      throw corruptError(
        closedKey(key, newest! - place),
        `it is not a journal of format ${constants.format} or ${constants.sealedFormat}`,
      );
    if (birth !== header.birthBefore) return { status: SERVER_STATUS.unlinked, missing: false, chunks };
    if (format === constants.sealedFormat) return { status: SERVER_STATUS.sealed, missing: false, chunks };
    chunk = older;
  }
}

/** A chunk is read whole, because any of its frames may have an event of any time. */
function openTooLarge(sizeBytes: number, chunkMs: number): string {
  const bound = `statistics inside Redis read at most ${constants.maxServerBytes}, whatever the span`;
  const closed = `when it is closed, at ${constants.rotateBytes} bytes or ${chunkMs} ms after it began`;
  return `the open chunk alone has ${sizeBytes} bytes; ${bound}: use where: "client", or try again ${closed}`;
}

function tooLarge(what: string) {
  return refusal("TOO_LARGE", `${what}, ${BOUND_TEXT}`);
}

function about(sorted: Float64Array, p: number): number[] {
  const first = firstRank(sorted.length, p);
  return Array.from({ length: RANKS }, (_, i) => sorted[Math.max(0, Math.min(sorted.length - 1, first + i))]!);
}

function answerOf(status: number, nowMs: number, open?: ChunkBytes): ServerAnswer {
  const { length = 0, header } = open ?? {};
  return {
    status,
    missing: false,
    length,
    nowMs,
    coversUntilMs: 0,
    header,
    moments: undefined,
    ordered: new Float64Array(0),
  };
}

function f64s(numbers: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(8 * numbers.length));
  for (let i = 0; i < numbers.length; i++) view.setFloat64(8 * i, numbers[i]!, true);
  return new Uint8Array(view.buffer);
}
