import { pageScript } from "../../../generated/scripts/counter.ts";
import type { Operation } from "../../../store/contract.ts";
import { shardAt } from "./shard.ts";

export interface Page {
  /** "0": this was the last page. */
  cursor: string;
  /** Numbers as in the fields. Add the base for the ledger's number. */
  generation: number;
  acknowledged: number;
  base: number;
  /** Names and values in alternation. Invalid UTF-8 and line feeds appear as %ED and %0A, which no row has. */
  fields: string[];
  /** A field has line feeds, and `fields` is empty. Ask again with `isEscaped`. */
  hasLineFeeds?: true;
}

export interface PageQuery {
  layout: string;
  cursor: string;
  /** Approximate number of fields. */
  count: number;
  isEscaped?: boolean;
}

const LINE_FEED = 10;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads one page of a shard's fields. In memory the whole shard is one page. Law in lua/counter/page.lua. */
export const page: Operation<PageQuery, Page> = {
  name: "counter/page",
  script: pageScript,
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

/** Decodes a text. If it is not UTF-8, each byte that is not ASCII is written in hexadecimal, like %ED. */
function readable(line: Uint8Array): string {
  try {
    return utf8.decode(line);
  } catch {
    return Array.from(line, (byte) =>
      byte < 0x80 ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase()}`,
    ).join("");
  }
}
