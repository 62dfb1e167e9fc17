import { Cluster, Redis } from "ioredis";
import { fixedWindow, httpStore, Limiter, localDecisions, redisStore } from "../../src/entries/index.ts";
import type { Decider } from "../../test/faults/outages/outage-load.ts";
import type { Outage } from "../../test/faults/outages/outages.ts";
import { rivalPackage } from "./limiter/limiter.ts";

/** The deadline of a server's answer, the same for all rivals. */
export const DEADLINE_MS = 300;
/** Never reached, so a decision shows only how it was made. */
const LIMIT = 1e9;

export interface OutageClient extends Decider {
  close(): Promise<unknown> | unknown;
}

/** A limiter that continues while its store is down. */
export interface OutageRival {
  name: string;
  /** True when it allows calls during an outage. */
  allowsMeanwhile: boolean;
  missing(): string | undefined;
  /** Undefined when it cannot use such a store. */
  open(outage: Outage): OutageClient | undefined;
}

export const OUTAGE_RIVALS: readonly OutageRival[] = [
  ours("local"),
  ours("allow"),
  ours("deny"),
  {
    name: "rate-limiter-flexible, insuranceLimiter",
    allowsMeanwhile: true,
    missing: rivalPackage("rate-limiter-flexible").missing,
    open: insured,
  },
];

function ours(mode: "local" | "allow" | "deny"): OutageRival {
  const onStoreError = mode === "local" ? localDecisions() : mode;
  return {
    name: `oriel ${mode}`,
    allowsMeanwhile: mode !== "deny",
    missing: () => undefined,
    open(outage) {
      const client = outage.urls.length > 1 ? clusterOf(outage) : undefined;
      const options = { deadline: DEADLINE_MS };
      const store = outage.http
        ? httpStore({ ...outage.http, ...options })
        : redisStore(client ?? outage.urls[0]!, options);
      const limiter = new Limiter(store, [fixedWindow({ limit: LIMIT, span: "1h" })], { name: "bench", onStoreError });
      return {
        take: (id) => limiter.take(id),
        close: async () => {
          await store.close();
          client?.disconnect();
        },
      };
    },
  };
}

/** As its documentation shows it, with a bound on each command. Without the bound it would never notice a frozen server. */
function insured(outage: Outage): OutageClient | undefined {
  if (outage.http) return undefined;
  const { RateLimiterMemory, RateLimiterRedis } =
    rivalPackage<typeof import("rate-limiter-flexible")>("rate-limiter-flexible").load();
  const options = { enableOfflineQueue: false, commandTimeout: DEADLINE_MS };
  const client = outage.urls.length > 1 ? clusterOf(outage, options) : new Redis(outage.urls[0]!, options);
  client.on("error", () => {});
  const rate = { points: LIMIT, duration: 3600 };
  const insurance = new RateLimiterMemory(rate);
  const decidedByInsurance = new WeakSet<object>();
  const consume = insurance.consume.bind(insurance);
  insurance.consume = async (...call) => {
    const result = await consume(...call);
    decidedByInsurance.add(result);
    return result;
  };
  const limiter = new RateLimiterRedis({ storeClient: client, ...rate, insuranceLimiter: insurance });
  return {
    take: async (id) => ({ allowed: true, degraded: decidedByInsurance.has(await limiter.consume(id)) }),
    close: () => client.disconnect(),
  };
}

function clusterOf(outage: Outage, { enableOfflineQueue = true, ...redisOptions } = {}): Cluster {
  const client = new Cluster([...outage.urls], { slotsRefreshTimeout: 3000, enableOfflineQueue, redisOptions });
  client.on("error", () => {});
  return client;
}
