import type { ScriptClient } from "./client.ts";

/** Reports each `maxmemory-policy` but noeviction among the primaries, once the client is ready; a refusal says nothing. */
export async function watchEviction(client: ScriptClient, onWarning: (warning: string) => void): Promise<void> {
  const told = new Set<string>();
  try {
    await client.whenReady();
    for (const text of await client.info("memory")) {
      const policy = /^maxmemory_policy:(\S+)/m.exec(text)?.[1];
      if (policy === undefined || policy === "noeviction" || told.has(policy)) continue;
      told.add(policy);
      onWarning(`maxmemory-policy is ${policy}: Redis may evict keys, and events with them; it should be noeviction`);
    }
  } catch {
    // Not permitted, or out of reach: the calls themselves will tell.
  }
}
