import {
  LINES_READ_BYTES,
  LINES_READ_NOW_MS_AT,
  LIST_LIFE_MS,
  MAX_LIST_BYTES,
} from "../../../generated/layouts/history.ts";
import { linesScript } from "../../../generated/scripts/history.ts";
import type { Operation } from "../../../store/contract.ts";
import { textBytes } from "../../../store/memory/heap-bytes.ts";

export interface LinesRead {
  nowMs: number;
  /** For each line: the server's time when it was added, a space, the line, a line break. "" if it was not asked for. */
  list: string;
}

/** Adds a line to a list, and reads the list and the time. lua/history/lines.lua states the law. */
export const lines: Operation<{ line: string; isWanted: boolean }, LinesRead> = {
  name: "history/lines",
  script: linesScript,
  arity: 2,
  keyCount: 1,
  repeatable: true,
  encode: ({ line, isWanted }) => [line, isWanted ? 1 : 0],
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset, reply.byteLength);
    return {
      nowMs: view.getFloat64(LINES_READ_NOW_MS_AT, true),
      list: new TextDecoder().decode(reply.subarray(LINES_READ_BYTES)),
    };
  },
  local(keys, key, { line, isWanted }, nowMs) {
    let list = String(keys.get(key) ?? "");
    if (line !== "" && !list.includes(` ${line}\n`)) {
      list += `${nowMs} ${line}\n`;
      while (new TextEncoder().encode(list).length > MAX_LIST_BYTES) list = list.slice(list.indexOf("\n") + 1);
      keys.set(key, list, textBytes(list), nowMs + LIST_LIFE_MS);
    }
    return { nowMs, list: isWanted ? list : "" };
  },
};
