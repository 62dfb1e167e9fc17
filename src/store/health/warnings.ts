import type { ScriptClient } from "../delivery/client.ts";

type Emit = (warning: string) => void;

const emitted = new Set<string>();

/** Emits a process warning, or prints it without a process. Each text once, whichever store it comes from. */
export function emitOnce(warning: string): void {
  if (emitted.has(warning)) return;
  emitted.add(warning);
  const { process } = globalThis as { process?: { emitWarning?(text: string, type: string): void } };
  if (process?.emitWarning) process.emitWarning(warning, "OrielWarning");
  else console.warn(`OrielWarning: ${warning}`);
}

/** Warns about a primary whose `maxmemory-policy` is not noeviction. */
export function watchEviction(client: ScriptClient, onWarning: Emit): void {
  watch(client, onWarning, "memory", (text) => {
    const policy = /^maxmemory_policy:(\S+)/m.exec(text)?.[1];
    if (policy === undefined || policy === "noeviction") return undefined;
    return `maxmemory-policy is ${policy}: Redis may evict keys, and events with them; it should be noeviction`;
  });
}

/** Warns about a primary without an append-only file. */
export function watchAppendOnly(client: ScriptClient, onWarning: Emit): void {
  watch(client, onWarning, "persistence", (text) => {
    if (!/^aof_enabled:0/m.test(text)) return undefined;
    return "appendonly is no: a restart of Redis loses acknowledged counts and messages; it should be yes";
  });
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
