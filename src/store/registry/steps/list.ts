import { listScript } from "../../../generated/scripts/registry.ts";
import type { Keyspace, Operation } from "../../contract.ts";
import { unpackStrings } from "../../message-pack.ts";
import type { OtherSettings } from "./announce.ts";

export interface Page {
  nowMs: number;
  /** Of the next page; "0" after the last one. */
  cursor: string;
  entries: (readonly [field: string, record: string])[];
}

/** Reads one page of a table of the registry. lua/registry/list.lua states the rules. */
export const list: Operation<string, Page> = {
  name: "registry/list",
  script: listScript,
  arity: 1,
  keyCount: 1,
  repeatable: true,
  encode: (cursor) => [cursor],
  decode(reply) {
    const [now, cursor, ...parts] = unpackStrings(reply) as [string, string, ...string[]];
    const entries: Page["entries"] = [];
    for (let i = 0; i < parts.length; i += 2) entries.push([parts[i]!, parts[i + 1]!]);
    return { nowMs: Number(now), cursor, entries };
  },
  local: (keys, key, _cursor, nowMs) => ({ nowMs, cursor: "0", entries: [...entriesIn(keys, key)] }),
};

/** A table of a registry in memory: records by field, the latest announcement last. */
export type Entries = ReadonlyMap<string, string>;

/** A structure's record (lua/registry/announce.lua). */
export interface StructureRecord extends OtherSettings {
  version: string;
  settings: string;
  /** The last announcement with other shared settings. */
  other: OtherSettings | undefined;
}

/** Reads a record. Undefined if no announcement wrote it. */
export function readRecord(text: string): StructureRecord | undefined {
  const [shared, ms, process, version, settings, otherShared, otherMs, otherProcess] = text.split("\n");
  if (!isTime(ms) || otherProcess === undefined) return undefined;
  const other = isTime(otherMs) ? { shared: otherShared!, ms: Number(otherMs), process: otherProcess } : undefined;
  return { shared: shared!, ms: Number(ms), process: process!, version: version!, settings: settings!, other };
}

export function writeRecord({ shared, ms, process, version, settings, other }: StructureRecord): string {
  const last = other ? [other.shared, other.ms, other.process] : ["", "", ""];
  return [shared, ms, process, version, settings, ...last].join("\n");
}

/** When a process announced itself; 0 if its record is damaged. */
export function timeOfProcess(record: string): number {
  const [ms] = record.split("\n", 1);
  return isTime(ms) ? Number(ms) : 0;
}

export function entriesIn(keys: Keyspace, key: string): Entries {
  const entries = keys.get(key) ?? new Map();
  if (!(entries instanceof Map)) throw new TypeError("it is not a table of the registry");
  return entries;
}

function isTime(text: string | undefined): boolean {
  return text !== undefined && /^\d{1,16}$/.test(text);
}
