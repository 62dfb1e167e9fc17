import { MAX_LISTED_GENERATIONS } from "../../../generated/layouts/counter.ts";
import { lookScript, pageScript } from "../../../generated/scripts/counter.ts";
import type { Operation } from "../../../store/contract.ts";
import { type Shard, shardAt } from "./shard.ts";

/** A generation in the store, by its number in the fields, with its stored sum and nonce. */
interface SeenGeneration {
  number: number;
  sum: string;
  nonce: string | undefined;
}

/** The state of a shard without its counts. Each field has its stored text; undefined if it does not exist. */
export interface Look {
  /** The type of the key in Redis. "none": it does not exist. */
  type: string;
  layout: string | undefined;
  current: string | undefined;
  acknowledged: string | undefined;
  base: string | undefined;
  born: string | undefined;
  pure: string | undefined;
  rebased: string | undefined;
  generations: SeenGeneration[];
  /** Where batches that were sent again had been acknowledged, each as `<born>.<generation in the ledger>`. */
  again: string[];
}

const FIELDS = ["@layout", "@cur", "@ack", "@base", "@born", "@pure", "@rebased"];

/** Reads the state of a shard, or of any other value under its key. Law in lua/counter/look.lua. */
export const look: Operation<null, Look> = {
  name: "counter/look",
  script: lookScript,
  keyCount: 1,
  arity: 0,
  repeatable: true,
  encode: () => [],
  decode: (reply) => lookOf(new TextDecoder().decode(reply)),
  local(keys, key) {
    const shard = keys.get(key) as Shard | undefined;
    if (!shard || shard.fields.size === 0) return lookOf("none");
    const line = (text: string | undefined) => (text ?? "-").replaceAll("\n", " ");
    const lines = ["hash", ...FIELDS.map((field) => line(shard.get(field)))];
    const { current, acknowledged } = shard.numbers;
    for (let number = acknowledged + 1; number <= Math.min(current, acknowledged + MAX_LISTED_GENERATIONS); number++)
      lines.push(`${number} ${line(shard.get(`@n:${number}`))} ${line(shard.get(`@x:${number}`))}`);
    return lookOf(`${lines.join("\n")}\n${shard.get("@again") ?? ""}`);
  },
};

function lookOf(text: string): Look {
  const [type = "none", ...lines] = text.split("\n");
  const [layout, current, acknowledged, base, born, pure, rebased] = lines.slice(0, FIELDS.length).map(given);
  const rest = lines.slice(FIELDS.length).filter((line) => line !== "");
  const generations = rest
    .filter((line) => !line.startsWith("r"))
    .map((line) => {
      const [number, sum = "-", nonce = "-"] = line.split(" ");
      return { number: Number(number), sum, nonce: given(nonce) };
    });
  const names = rest.filter((line) => line.startsWith("r")).flatMap((line) => line.trimEnd().split(" "));
  const again = names.map((name) => name.split("|")[1] ?? "");
  return { type, layout, current, acknowledged, base, born, pure, rebased, generations, again: [...new Set(again)] };
}

function given(text: string): string | undefined {
  return text === "-" ? undefined : text;
}

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
