import { warn } from "../../base/warn.ts";
import type { ScriptClient } from "../delivery/client.ts";

type Emit = (warning: string) => void;

const emitted = new Set<string>();

/** Emits each text once, whichever store it comes from. */
export function emitOnce(warning: string): void {
  if (emitted.has(warning)) return;
  emitted.add(warning);
  warn(warning);
}

/** The warning about `maxmemory-policy` in INFO's section memory, if one is due. */
export function evictionWarning(memory: string): string | undefined {
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1];
  if (policy === undefined || policy === "noeviction") return undefined;
  return `maxmemory-policy is ${policy}: Redis may evict keys, and with them events, locks, permits, counts and messages; it should be noeviction`;
}

/** The warning about `appendonly` in INFO's section persistence, if one is due. */
export function appendOnlyWarning(persistence: string): string | undefined {
  if (!/^aof_enabled:0/m.test(persistence)) return undefined;
  return "appendonly is no: a restart of Redis loses acknowledged counts and messages; it should be yes";
}

/** Warns about a primary whose `maxmemory-policy` is not noeviction. */
export function watchEviction(client: ScriptClient, onWarning: Emit): void {
  watch(client, onWarning, "memory", evictionWarning);
}

/** Warns about a primary without an append-only file. */
export function watchAppendOnly(client: ScriptClient, onWarning: Emit): void {
  watch(client, onWarning, "persistence", appendOnlyWarning);
}

/** Warns, at the first call only, that the server refuses SUBSCRIBE. */
export function subscriptionWarning(onWarning: Emit | null | false): (why: string) => void {
  let isGiven = false;
  return (why) => {
    if (onWarning && !isGiven)
      onWarning(
        `the server refuses SUBSCRIBE (${why}): waiters for locks ask every 100 ms, and workers of queues every 5 s`,
      );
    isGiven = true;
  };
}

/** Asks all primaries once, when the client is ready, and emits each warning once. Ignores a refusal. */
async function watch(
  client: ScriptClient,
  onWarning: Emit,
  section: string,
  warningOf: (info: string) => string | undefined,
): Promise<void> {
  try {
    for (let ready = client.whenReady(); ready; ready = client.whenReady()) await ready;
    const warnings = new Set((await client.info(section)).map(warningOf));
    for (const warning of warnings) if (warning !== undefined) onWarning(warning);
  } catch {
    // Forbidden, or unreachable: calls report that themselves.
  }
}
