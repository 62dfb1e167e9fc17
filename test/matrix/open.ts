import { Cluster, type Redis } from "ioredis";
import { describe, test } from "vitest";
import type { RedisStoreOptions } from "../../src/store/redis/client-store.ts";
import { onSteppedClock } from "../harness/clock/stepped-script.ts";
import {
  isOfStructure,
  onMemory as onSteppedMemory,
  START_MS,
  type OpenStore as SteppedStore,
} from "../harness/clock/stepped-stores.ts";
import { type OpenStore as LiveStore, onMemory as onLiveMemory } from "../lock/contract/stores.ts";
import { onMemory as onWindowMemory, type OpenStore as WindowStore } from "../series/contract/stores.ts";
import { storeOn } from "../store/contract/clients.ts";
import { type Servers, servers } from "./servers.ts";
import { optionsOf, type StructureName } from "./structures.ts";
import { type MatrixRow, wantedRowsOf } from "./table.ts";

/** Two stores of two processes on a stepped clock, and access to their keys. */
export type MatrixStore = SteppedStore & WindowStore;

/** Opens the stores of a row on a stepped clock. All rows of a test file share the servers. `clear` empties them. */
async function openRow(row: MatrixRow): Promise<MatrixStore> {
  const start = servers[row.store]!;
  if (start === "memory") {
    const [opened, stepped] = [await onWindowMemory(), await onSteppedMemory()];
    await stepped.close();
    const expiries = async () => {
      const keys = await opened.keys();
      return new Map(await Promise.all(keys.map(async (key) => [key, await opened.expiryOf(key)] as const)));
    };
    return { ...opened, expiries, modes: row.modes };
  }
  if (typeof start === "object") throw new Error(start.missing);
  return onServers(row, await start());
}

/** The same by the servers' own time. */
export async function openLive(row: MatrixRow): Promise<LiveStore> {
  const start = servers[row.store]!;
  const { modes } = row;
  if (start === "memory") return { ...(await onLiveMemory()), modes };
  if (typeof start === "object") throw new Error(start.missing);
  const { raw, flush, connect } = await start();
  const scripting = row.scripting === "functions" ? ({ scripting: "functions" } as const) : {};
  const given = await Promise.all([connect(), connect()]);
  const [store, other] = given.map((each) => storeOn(each, scripting));
  await flush();
  return {
    store: store!,
    other: other!,
    modes,
    clock: { nowMs: Number.NaN },
    async expiryOf(key) {
      const expireAtMs = await raw.pexpiretime(key);
      if (expireAtMs === -2) return undefined;
      return expireAtMs < 0 ? Number.POSITIVE_INFINITY : expireAtMs;
    },
    clear: async () => void (await flush()),
    async close() {
      await Promise.all([store!.close(), other!.close()]);
      for (const each of given) await each.end();
      raw.disconnect();
    },
  };
}

async function onServers(row: MatrixRow, { raw, flush, connect }: Servers): Promise<MatrixStore> {
  const clock = { nowMs: START_MS };
  const now = () => clock.nowMs;
  const nodes = () => (raw instanceof Cluster ? raw.nodes("master") : [raw as Redis]);
  const options: RedisStoreOptions = {
    scriptOf: onSteppedClock(now),
    monotonic: now,
    ...(row.scripting === "functions" && { scripting: "functions" }),
  };
  const given = await Promise.all([connect(), connect()]);
  const [store, other] = given.map((each) => storeOn(each, options));
  // A server expires keys by its own clock. A key that is over by the test's clock counts as expired.
  const expiries = async () => {
    const found = new Map<string, number>();
    for (const node of nodes())
      for (const key of (await node.keys("*")).filter(isOfStructure)) {
        const expiryMs = await node.pexpiretime(key);
        if (expiryMs >= clock.nowMs || expiryMs === -1) found.set(key, expiryMs);
      }
    return found;
  };
  const expiryOf = async (key: string) => {
    const expiryMs = await raw.pexpiretime(key);
    return expiryMs === -1 ? Number.POSITIVE_INFINITY : expiryMs;
  };
  await flush();
  return {
    modes: row.modes,
    store: store!,
    other: other!,
    clock,
    client: raw,
    expiries,
    keys: async () => [...(await expiries()).keys()].sort(),
    expiryOf,
    bytesOf: async (key) =>
      (await expiryOf(key)) >= clock.nowMs ? ((await raw.getBuffer(key)) ?? undefined) : undefined,
    remove: async (key) => void (await raw.del(key)),
    clear: async () => void (await flush()),
    async close() {
      await Promise.all([store!.close(), other!.close()]);
      for (const each of given) await each.end();
      raw.disconnect();
    },
  };
}

/** Runs a suite over every row of its structure. Unavailable rows are skipped by name. */
export function overMatrix(
  structure: StructureName,
  suite: (name: string, open: () => Promise<MatrixStore>, row: MatrixRow) => void,
): void {
  for (const row of wantedRowsOf(structure)) {
    const start = servers[row.store]!;
    if (typeof start === "object" && "missing" in start) describe(row.name, () => test.skip(start.missing, () => {}));
    else suite(row.name, () => openRow({ ...row, modes: optionsOf(structure, row.modes) }), row);
  }
}
