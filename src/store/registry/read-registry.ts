import { CONFLICT_MS } from "../../generated/layouts/registry.ts";
import type { Store } from "../contract.ts";
import type { Settings, StructureKind } from "./live.ts";
import { basesOf, keysOf } from "./steps/announce.ts";
import { list, readRecord, type StructureRecord, timeOfProcess } from "./steps/list.ts";

/** A structure that a process has announced within 7 days. */
export interface RegisteredStructure {
  kind: StructureKind;
  name: string;
  /** The options of its constructor, as JSON. Durations are in ms. */
  settings: Settings;
  /** Version of oriel in the process that announced it last. */
  version: string;
  /** Id of the process that announced it last. */
  process: string;
  /** When it was announced last, in ms since 1970 by the server's clock. */
  seenMs: number;
  /** Number of processes that have it, of those that were seen within an hour. */
  processes: number;
  /** Another process announced other settings at about the same time, though all processes must use the same. */
  conflict?: { process: string; settings: Settings; seenMs: number };
}

/** A process that has announced structures within an hour. */
export interface RegisteredProcess {
  id: string;
  /** "" if it is unknown. */
  host: string;
  /** Undefined if the runtime has no processes. */
  pid: number | undefined;
  /** For example "node 24.1.0". */
  runtime: string;
  /** Version of oriel. */
  version: string;
  startedMs: number;
  /** When it announced itself last, in ms since 1970 by the server's clock. */
  seenMs: number;
  /** Number of structures that it uses. */
  structures: number;
}

export interface Registry {
  /** The server's time, in ms since 1970. */
  nowMs: number;
  /** In the order of kind and name. */
  structures: RegisteredStructure[];
  processes: RegisteredProcess[];
}

/**
 * Lists the structures and processes that use a store, of the whole cluster, also those that are idle now. Structures of
 * stores with `registry: false` are missing, and so are processes that ended within 200 ms. Foreign entries are left out.
 * Rejects as `store.run` does. Cost: one round trip for 500 entries of each of four tables.
 */
export async function readRegistry(store: Store): Promise<Registry> {
  const tables = basesOf(store).map(keysOf) as [string, string, string][];
  const [structures, locks, processes, ofLocks] = (await Promise.all([
    ...tables.map(([structuresKey]) => readTable(store, structuresKey)),
    ...tables.map(([, , processesKey]) => readTable(store, processesKey)),
  ])) as [Table, Table, Table, Table];
  const found = new Map<string, RegisteredProcess>();
  const users = new Map<string, number>();
  for (const [id, text] of [...processes.entries, ...ofLocks.entries]) {
    const entry = processOf(id, text);
    if (!entry) continue;
    const { process, fields } = entry;
    for (const field of fields) users.set(field, (users.get(field) ?? 0) + 1);
    const { structures = 0, seenMs = 0 } = found.get(id) ?? {};
    found.set(id, { ...process, structures: structures + fields.length, seenMs: Math.max(seenMs, process.seenMs) });
  }
  const listed = [...structures.entries, ...locks.entries].flatMap(
    ([field, text]) => structureOf(field, readRecord(text), users.get(field) ?? 0) ?? [],
  );
  const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return {
    nowMs: structures.nowMs,
    structures: listed.sort((a, b) => order(a.kind, b.kind) || order(a.name, b.name)),
    processes: [...found.values()].sort((a, b) => order(a.id, b.id)),
  };
}

interface Table {
  nowMs: number;
  /** Each field once. */
  entries: Map<string, string>;
}

async function readTable(store: Store, key: string): Promise<Table> {
  const entries = new Map<string, string>();
  for (let cursor = "0"; ; ) {
    const page = await store.run(list, key, cursor);
    for (const [field, record] of page.entries) entries.set(field, record);
    cursor = page.cursor;
    if (cursor === "0") return { nowMs: page.nowMs, entries };
  }
}

function structureOf(
  field: string,
  record: StructureRecord | undefined,
  processes: number,
): RegisteredStructure | undefined {
  const [, kind, json] = /^(\w+) (".*")$/s.exec(field) ?? [];
  const [name, shared, own] = [json, record?.shared, record?.settings].map(parsed);
  if (!record || typeof name !== "string" || !isObject(shared) || !isObject(own)) return undefined;
  const { ms, process, version, other } = record;
  const otherSettings = parsed(other?.shared);
  const isConflict = other && other.process !== process && other.ms > ms - CONFLICT_MS && isObject(otherSettings);
  return {
    kind: kind as StructureKind,
    name,
    settings: { ...shared, ...own },
    version,
    process,
    seenMs: ms,
    processes,
    ...(isConflict && { conflict: { process: other.process, settings: otherSettings, seenMs: other.ms } }),
  };
}

function processOf(id: string, text: string): { process: RegisteredProcess; fields: readonly string[] } | undefined {
  const seenMs = timeOfProcess(text);
  const facts = parsed(text.slice(text.indexOf("\n") + 1));
  if (seenMs === 0 || !isObject(facts)) return undefined;
  const textOf = (value: unknown) => (typeof value === "string" ? value : "");
  const { pid, startedMs, structures } = facts;
  const fields = Array.isArray(structures) ? structures.filter((each) => typeof each === "string") : [];
  const process: RegisteredProcess = {
    id,
    host: textOf(facts.host),
    pid: typeof pid === "number" ? pid : undefined,
    runtime: textOf(facts.runtime),
    version: textOf(facts.version),
    startedMs: typeof startedMs === "number" ? startedMs : Number.NaN,
    seenMs,
    structures: fields.length,
  };
  return { process, fields };
}

function parsed(json: string | undefined): unknown {
  try {
    return JSON.parse(json ?? "");
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Settings {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
