import { MAX_LISTED, MAX_REMOVED, PROCESS_LIFE_MS, STRUCTURE_LIFE_MS } from "../../../generated/layouts/registry.ts";
import type { Keyspace } from "../../contract.ts";
import { textBytes } from "../../memory/heap-bytes.ts";
import { type AnnounceInput, type AnnounceReply, keysOf } from "./announce.ts";
import { type Entries, entriesIn, readRecord, timeOfProcess, writeRecord } from "./list.ts";

/** The local form of `announce`. lua/registry/announce.lua states the rules. */
export function announceLocally(keys: Keyspace, base: string, input: AnnounceInput, nowMs: number): AnnounceReply {
  const { process, version, record, structures } = input;
  const [structuresKey, , processesKey] = keysOf(base) as [string, string, string];
  const known = entriesIn(keys, structuresKey);
  entriesIn(keys, processesKey);
  const announced = structures.map(({ field, shared, settings }) => {
    const last = readRecord(known.get(field) ?? "");
    const other = last && last.shared !== shared ? last : last?.other;
    const { ms, process: by } = other ?? {};
    const found = other && { shared: other.shared, ms: ms!, process: by! };
    return { field, own: { shared, ms: nowMs, process, version, settings, other: found } };
  });
  const records = new Map(announced.map(({ field, own }) => [field, writeRecord(own)]));
  setEntries(keys, structuresKey, records, nowMs, STRUCTURE_LIFE_MS, (text) => readRecord(text)?.ms ?? 0);
  setEntries(keys, processesKey, new Map([[process, `${nowMs}\n${record}`]]), nowMs, PROCESS_LIFE_MS, timeOfProcess);
  return { nowMs, others: announced.map(({ own }) => own.other) };
}

/** Writes the table with the new records at its end, without the entries that are over. */
function setEntries(
  keys: Keyspace,
  key: string,
  added: Entries,
  nowMs: number,
  lifeMs: number,
  timeOf: (record: string) => number,
): void {
  const entries = new Map(entriesIn(keys, key));
  for (const [field, record] of added) {
    entries.delete(field);
    entries.set(field, record);
  }
  const excess = entries.size - MAX_LISTED;
  let checked = 0;
  for (const [field, record] of entries) {
    if (checked > MAX_REMOVED + added.size || (checked >= excess && timeOf(record) >= nowMs - lifeMs)) break;
    entries.delete(field);
    checked++;
  }
  let bytes = 0;
  for (const [field, record] of entries) bytes += textBytes(field) + textBytes(record);
  keys.set(key, entries, bytes, nowMs + lifeMs);
}
