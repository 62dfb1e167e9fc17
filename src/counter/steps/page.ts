import { script } from "../../generated/counter/page.ts";
import type { Operation } from "../../store/contract.ts";
import { shardAt } from "./shard.ts";

export interface Page {
  /** "0": there is no more. */
  cursor: string;
  /** As the fields count them; the base added, as the ledger does. */
  generation: number;
  acknowledged: number;
  base: number;
  /** Names and values by turns. Bytes that are no UTF-8 and line feeds stand as %ED, %0A: no row has such. */
  fields: string[];
  /** A field has line feeds: ask again with `isEscaped`, for `fields` is empty. */
  hasLineFeeds?: true;
}

export interface PageQuery {
  layout: string;
  cursor: string;
  /** About how many fields. */
  count: number;
  isEscaped?: boolean;
}

const LINE_FEED = 10;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads a shard, some fields at a time; law in lua/counter/page.lua. In memory all of it is one page. */
export const page: Operation<PageQuery, Page> = {
  name: "counter/page",
  script,
  keyCount: 1,
  arity: 3,
  repeatable: true,
  encode: ({ layout, cursor, count, isEscaped }) => [layout, cursor, isEscaped ? -count : count],
  decode(reply) {
    const [cursor, generation, acknowledged, base, length, ...fields] = linesOf(reply);
    fields.pop(); // behind the last line feed
    const numbers = { generation: Number(generation), acknowledged: Number(acknowledged), base: Number(base) };
    if (fields.length !== Number(length)) return { cursor: cursor!, ...numbers, fields: [], hasLineFeeds: true };
    return { cursor: cursor!, ...numbers, fields };
  },
  local(keys, key, { layout }) {
    const shard = shardAt(keys, key, layout);
    const { current, acknowledged, base } = shard.numbers;
    return { cursor: "0", generation: current, acknowledged, base, fields: [...shard.fields].flat() };
  },
};

function linesOf(reply: Uint8Array): string[] {
  try {
    return utf8.decode(reply).split("\n");
  } catch {
    return linesOfBytes(reply);
  }
}

function linesOfBytes(bytes: Uint8Array): string[] {
  const lines: string[] = [];
  for (let from = 0; from <= bytes.length; ) {
    const found = bytes.indexOf(LINE_FEED, from);
    const end = found < 0 ? bytes.length : found;
    lines.push(readable(bytes.subarray(from, end)));
    from = end + 1;
  }
  return lines;
}

/** The text, or else each byte that is not ASCII as %ED. */
function readable(line: Uint8Array): string {
  try {
    return utf8.decode(line);
  } catch {
    return Array.from(line, (byte) =>
      byte < 0x80 ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase()}`,
    ).join("");
  }
}
