import { corruptError } from "../../../base/errors.ts";
import { LIST_LIFE_MS, MAX_ACTION_ENTRIES, RECENT_ENTRIES } from "../../../generated/layouts/history.ts";
import { actionsScript } from "../../../generated/scripts/history.ts";
import type { Keyspace, Operation } from "../../../store/contract.ts";
import { ARRAY_BYTES, textBytes } from "../../../store/memory/heap-bytes.ts";
import { packStrings, readStrings, unpackStrings } from "../../../store/message-pack.ts";

/** An entry's names and values. */
export type Fields = Readonly<Record<string, string>>;

export interface ActionsInput {
  /** An entry that differs from all others, by an id of its own. Undefined adds none. */
  entry: Fields | undefined;
  isWanted: boolean;
}

/** The server's time when it was added, in ms, and its fields. */
export type ActionsEntry = readonly [ms: number, fields: Fields];

/** A stream in the memory store: the latest entry first, its names and values by turns. */
class ActionStream {
  readonly entries: readonly (readonly [ms: number, texts: readonly string[]])[];
  constructor(entries: ActionStream["entries"]) {
    this.entries = entries;
  }
}

/** Adds an entry to the stream of operators' actions, and reads it, the latest first. lua/history/actions.lua states the law. */
export const actions: Operation<ActionsInput, ActionsEntry[]> = {
  name: "history/actions",
  script: actionsScript,
  arity: 2,
  keyCount: 1,
  repeatable: true,
  encode: ({ entry, isWanted }) => [entry ? packStrings(textsOf(entry)) : "", isWanted ? 1 : 0],
  decode(reply) {
    if (reply.length === 0) return [];
    const parts = readStrings(reply);
    return parts.flatMap((part, i) =>
      i % 2 === 0 ? [[Number(new TextDecoder().decode(part)), fieldsOf(unpackStrings(parts[i + 1]!))] as const] : [],
    );
  },
  local(keys, key, { entry, isWanted }, nowMs) {
    let { entries } = streamIn(keys, key);
    const texts = entry && unpackStrings(packStrings(textsOf(entry))); // lone surrogates are replaced, as in UTF-8
    const isThere = entries.slice(0, RECENT_ENTRIES).some(([, its]) => JSON.stringify(its) === JSON.stringify(texts));
    if (texts && !isThere) {
      const added = [Math.max(nowMs, entries[0]?.[0] ?? 0), texts] as const;
      entries = [added, ...entries].slice(0, MAX_ACTION_ENTRIES);
      keys.set(key, new ActionStream(entries), bytesOf(entries), nowMs + LIST_LIFE_MS);
    }
    return isWanted ? entries.map(([ms, its]) => [ms, fieldsOf(its)]) : [];
  },
};

function streamIn(keys: Keyspace, key: string): ActionStream {
  const value = keys.get(key) ?? new ActionStream([]);
  if (!(value instanceof ActionStream)) throw corruptError(key, "it is not a stream of actions");
  return value;
}

function textsOf(fields: Fields): string[] {
  return Object.entries(fields).flat();
}

function fieldsOf(texts: readonly string[]): Fields {
  const names = texts.filter((_, i) => i % 2 === 0);
  return Object.fromEntries(names.map((name, i) => [name, texts[2 * i + 1] ?? ""]));
}

function bytesOf(entries: ActionStream["entries"]): number {
  let bytes = ARRAY_BYTES;
  for (const [, texts] of entries) for (const text of texts) bytes += textBytes(text) + 8;
  return bytes + 2 * ARRAY_BYTES * entries.length;
}
