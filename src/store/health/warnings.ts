import type { ScriptClient } from "../delivery/client.ts";

type Tell = (warning: string) => void;

const emitted = new Set<string>();

/** Emits a warning of the process, or on the console where there is none; each text once, whatever store it comes from. */
export function emitOnce(warning: string): void {
  if (emitted.has(warning)) return;
  emitted.add(warning);
  const { process } = globalThis as { process?: { emitWarning?(text: string, type: string): void } };
  if (process?.emitWarning) process.emitWarning(warning, "OrielWarning");
  else console.warn(`OrielWarning: ${warning}`);
}

/** Reports each `maxmemory-policy` but noeviction among the primaries. */
export function watchEviction(client: ScriptClient, onWarning: Tell): void {
  watch(client, onWarning, "memory", (text) => {
    const policy = /^maxmemory_policy:(\S+)/m.exec(text)?.[1];
    if (policy === undefined || policy === "noeviction") return undefined;
    return `maxmemory-policy is ${policy}: Redis may evict keys, and events with them; it should be noeviction`;
  });
}

/** Reports a primary that writes no append-only file. */
export function watchAppendOnly(client: ScriptClient, onWarning: Tell): void {
  watch(client, onWarning, "persistence", (text) => {
    if (!/^aof_enabled:0/m.test(text)) return undefined;
    return "appendonly is no: a restart of Redis loses counts that were acknowledged and are in no table yet; it should be yes";
  });
}

/** Asks all primaries once, when the client is ready, and tells each warning once; a refusal says nothing. */
async function watch(
  client: ScriptClient,
  onWarning: Tell,
  section: string,
  warningOf: (info: string) => string | undefined,
): Promise<void> {
  try {
    for (let ready = client.whenReady(); ready; ready = client.whenReady()) await ready;
    const warnings = new Set((await client.info(section)).map(warningOf));
    for (const warning of warnings) if (warning !== undefined) onWarning(warning);
  } catch {
    // Not permitted, or out of reach: the calls themselves will tell.
  }
}
