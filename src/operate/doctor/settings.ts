import { ServerError } from "../../store/delivery/client.ts";
import { appendOnlyWarning, evictionWarning } from "../../store/health/warnings.ts";
import { bytes } from "../format.ts";
import { type Check, type CheckName, wordsOf } from "./check.ts";
import { fieldsOf } from "./facts.ts";
import { NEARLY_FULL } from "./health/health-facts.ts";

/** INFO of one primary. An error if the server refuses it. */
export interface NodeInfo {
  /** Undefined if there is only one. */
  readonly address: string | undefined;
  readonly info: unknown;
}

/** Checks of the settings of all primaries. The worst node decides. */
export function settingsChecks(nodes: readonly NodeInfo[]): Check[] {
  return [worst(nodes, "memory", memory), worst(nodes, "eviction", eviction), worst(nodes, "persistence", persistence)];
}

function worst(nodes: readonly NodeInfo[], name: CheckName, checkOf: (info: string) => Omit<Check, "name">): Check {
  const checks = nodes.map(({ address, info }): Check => {
    if (info instanceof ServerError) return { name, verdict: "unknown", text: `INFO is refused: ${wordsOf(info)}` };
    const check = checkOf(String(info));
    const at = address === undefined || check.verdict === "good" ? "" : `${address}: `;
    return { name, ...check, text: at + check.text };
  });
  const order = ["degraded", "unknown", "note", "good"];
  return checks.sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict))[0]!;
}

function memory(info: string): Omit<Check, "name"> {
  const fields = fieldsOf(info);
  const [usedBytes, maxBytes] = [Number(fields.get("used_memory")), Number(fields.get("maxmemory"))];
  const facts = { usedBytes, maxBytes };
  if (!(usedBytes >= 0)) return { verdict: "unknown", text: "the server does not report its memory" };
  const used = `${bytes(usedBytes)} used`;
  if (!(maxBytes > 0))
    return { verdict: "good", text: `${used}, maxmemory is not set: set it to twice what your structures need`, facts };
  const text = `${used} of maxmemory ${bytes(maxBytes)}`;
  if (usedBytes < maxBytes * NEARLY_FULL) return { verdict: "good", text, facts };
  return {
    verdict: "degraded",
    text: `${text}: a full server refuses writes (OVERLOADED)`,
    advice: "Raise maxmemory, or free memory.",
    facts,
  };
}

function eviction(info: string): Omit<Check, "name"> {
  const policy = fieldsOf(info).get("maxmemory_policy");
  if (policy === undefined) return { verdict: "unknown", text: "the server does not report maxmemory-policy" };
  const warning = evictionWarning(info);
  if (warning === undefined) return { verdict: "good", text: `maxmemory-policy is ${policy}`, facts: { policy } };
  const advice = "CONFIG SET maxmemory-policy noeviction, also in the configuration file.";
  return { verdict: "degraded", text: warning, advice, facts: { policy } };
}

function persistence(info: string): Omit<Check, "name"> {
  const fields = fieldsOf(info);
  const aof = fields.get("aof_enabled");
  if (aof === undefined) return { verdict: "unknown", text: "the server does not report its append-only file" };
  const facts = { appendOnly: aof === "1", lastWrite: fields.get("aof_last_write_status") };
  if (aof === "1" && facts.lastWrite === "err")
    return {
      verdict: "degraded",
      text: "the last write of the append-only file failed, and the server may refuse writes (MISCONF)",
      advice: "Look at the disk and at the server's log.",
      facts,
    };
  const warning = appendOnlyWarning(info);
  if (warning === undefined) return { verdict: "good", text: "appendonly is yes", facts };
  const advice = "CONFIG SET appendonly yes, also in the configuration file.";
  return { verdict: "degraded", text: warning, advice, facts };
}
