import { ServerError } from "../../store/delivery/client.ts";
import { type Check, rulesOf, wordsOf } from "./check.ts";
import type { Asker, NodeAddress } from "./connection.ts";
import { fieldsOf } from "./facts.ts";

export type Mode = "single" | "cluster" | "replica" | "sentinel";

export interface ModeFound {
  readonly mode: Mode;
  readonly check: Check;
  /** The primaries of a cluster, if the server reports them. */
  readonly primaries: readonly NodeAddress[];
}

const ALL_SLOTS = 16_384;

/** Finds how the server is run: alone, in a cluster, as a replica, under Sentinel. `info` is the answer to INFO. */
export async function modeOf(asker: Asker, info: unknown): Promise<ModeFound> {
  if (info instanceof ServerError)
    return { mode: "single", check: { name: "mode", verdict: "unknown", text: "INFO is refused" }, primaries: [] };
  const fields = fieldsOf(info);
  const running = fields.get("redis_mode") ?? fields.get("server_mode");
  if (running === "sentinel") return { mode: "sentinel", check: sentinel, primaries: [] };
  if (running === "cluster" || fields.get("cluster_enabled") === "1") return cluster(asker);
  const hasSentinel = await isWatched(asker);
  if (fields.get("role") === "slave") return { mode: "replica", check: replica(fields, hasSentinel), primaries: [] };
  const replicas = Number(fields.get("connected_slaves") ?? 0);
  const kind = hasSentinel ? "a primary under Sentinel" : replicas > 0 ? "a primary" : "a single server";
  const text = `${kind}, ${replicas === 1 ? "1 replica" : `${replicas} replicas`}`;
  const facts = { replicas, hasSentinel };
  const check: Check = hasSentinel
    ? {
        name: "mode",
        verdict: "note",
        text: `${text}; a store by URL does not follow a failover`,
        advice: SENTINEL_CLIENT,
        facts,
      }
    : { name: "mode", verdict: "good", text, facts };
  return { mode: "single", check, primaries: [] };
}

const SENTINEL_CLIENT = "Pass an ioredis client with sentinels and name, which follows a failover.";

const sentinel: Check = {
  name: "mode",
  verdict: "unusable",
  text: "this is a Sentinel, which stores no data",
  advice: "Pass an ioredis client with sentinels and name, or the URL of the primary.",
};

function replica(fields: ReadonlyMap<string, string>, hasSentinel: boolean): Check {
  const primary = `${fields.get("master_host")}:${fields.get("master_port")}`;
  const link = fields.get("master_link_status");
  return {
    name: "mode",
    verdict: "unusable",
    text: `a replica of ${primary}${hasSentinel ? " under Sentinel" : ""} (link ${link}), which takes no writes`,
    advice: hasSentinel ? SENTINEL_CLIENT : "Use the primary's address.",
    facts: { primary, link, hasSentinel },
  };
}

/** Sentinels subscribe to this channel of every server that they watch. */
async function isWatched(asker: Asker): Promise<boolean> {
  const reply = await asker.ask("PUBSUB", "NUMSUB", "__sentinel__:hello");
  return Array.isArray(reply) && Number(reply[1]) > 0;
}

async function cluster(asker: Asker): Promise<ModeFound> {
  const reply = await asker.ask("CLUSTER", "INFO");
  const slotMap = await asker.ask("CLUSTER", "SLOTS");
  const primaries = primariesOf(slotMap);
  const found = (check: Omit<Check, "name">): ModeFound => ({
    mode: "cluster",
    check: { name: "mode", ...check },
    primaries,
  });
  const rules = rulesOf([slotMap, reply]);
  const remedy = rules.length > 0 ? { rules } : { advice: "Give every slot to a node." };
  if (primaries.length === 0)
    return found({
      verdict: "unusable",
      text: `a cluster, whose clients need CLUSTER SLOTS: ${slotMap instanceof ServerError ? wordsOf(slotMap) : "no slots"}`,
      ...remedy,
    });
  if (reply instanceof ServerError)
    return found({ verdict: "unknown", text: `a cluster; its state is unknown: ${wordsOf(reply)}`, rules });
  const fields = fieldsOf(reply);
  const [state, slots] = [fields.get("cluster_state"), Number(fields.get("cluster_slots_ok"))];
  const facts = { state, slots, primaries: primaries.length };
  const text = `a cluster of ${primaries.length} ${primaries.length === 1 ? "primary" : "primaries"}`;
  if (state !== "ok" || slots < ALL_SLOTS)
    return found({
      verdict: state === "ok" ? "degraded" : "unusable",
      text: `${text}, state ${state}, ${slots} of ${ALL_SLOTS} slots served; calls on other slots fail`,
      advice: "Check CLUSTER NODES for failed nodes and missing slots.",
      facts,
    });
  return found({
    verdict: "note",
    text: `${text}, all slots served; a store by URL reaches one node only`,
    advice: "Pass a cluster's client, of ioredis or node-redis.",
    facts,
  });
}

/** The primaries in the answer to CLUSTER SLOTS. Empty for an error. */
function primariesOf(reply: unknown): NodeAddress[] {
  if (!Array.isArray(reply)) return [];
  const all = new Map<string, NodeAddress>();
  for (const range of reply) {
    const [host, port] = Array.isArray(range?.[2]) ? (range[2] as [string | null, number]) : [];
    if (Number(port) > 0) all.set(`${host}:${port}`, { host: host || undefined, port: Number(port) });
  }
  return [...all.values()];
}
