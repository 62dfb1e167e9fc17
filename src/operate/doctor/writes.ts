import { OrielError } from "../../base/errors.ts";
import { Lock } from "../../holds/lock/lock.ts";
import { ServerError } from "../../store/delivery/client.ts";
import { quietStore } from "../../store/registry/quiet-store.ts";
import { type Check, patternOf, remedyOf, wordsOf } from "./check.ts";
import type { Asker, DoctorTarget, NodeAddress } from "./connection.ts";
import { KEY_LIFE_MS } from "./rights.ts";

/** Writes the probe's key, which expires. */
export async function writes(asker: Asker, key: string): Promise<Check> {
  const name = "writes";
  const reply = await asker.ask("SET", key, "0", "PX", String(KEY_LIFE_MS));
  if (!(reply instanceof ServerError)) return { name, verdict: "good", text: "the server takes writes" };
  const facts = { reply: reply.message };
  const text = `the server refuses a write: ${wordsOf(reply)}`;
  return { name, verdict: "unusable", text, ...remedyOf(reply, patternOf(key)), facts };
}

/** The node that has `key`, which MOVED names in a cluster. Undefined if it is the connected one. */
export async function ownerOf(asker: Asker, key: string): Promise<NodeAddress | undefined> {
  const reply = await asker.ask("EXISTS", key);
  const moved = reply instanceof ServerError ? /^MOVED \d+ (.*):(\d+)$/.exec(reply.message) : null;
  return moved ? { host: moved[1] || undefined, port: Number(moved[2]) } : undefined;
}

/** Acquires and releases a lock, as a program does, by oriel's own steps. */
export async function steps(target: DoctorTarget, lockName: string, isCluster: boolean): Promise<Check> {
  const name = "steps";
  const store = target.openStore(isCluster);
  const quiet = quietStore(store); // nothing but the lock is written
  try {
    const held = await new Lock(quiet, lockName).tryLock({ lease: "5s" });
    if (!(await held?.release())) throw new OrielError("LOST", "the lock was lost at once");
    return { name, verdict: "good", text: "a lock was acquired and released" };
  } catch (error) {
    const why = error instanceof OrielError ? `${error.code} ${OrielError.detailOf(error)}` : wordsOf(error);
    return { name, verdict: "unusable", text: `a lock could not be acquired and released: ${why}` };
  } finally {
    await store.close();
  }
}
