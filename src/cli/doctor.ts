import { Redis } from "ioredis";
import pc from "picocolors";
import type { Verdict } from "../doctor/check.ts";
import type { DoctorTarget, NodeAddress } from "../doctor/connection.ts";
import { examine, type Report } from "../doctor/examine.ts";
import { type SingleClient, tcpTarget } from "../doctor/tcp-connection.ts";
import { redisStore } from "../entries/index.ts";
import { OrielError } from "../errors.ts";
import { type Duration, durationMs } from "../time.ts";
import { Output } from "./output.ts";
import { checkRedis, clusterClient } from "./redis-client.ts";
import { reportText } from "./report-text.ts";
import type { Streams } from "./streams.ts";

export interface DoctorTyped {
  redis?: string;
  prefix?: string;
  deadline: string;
  json?: boolean;
}

const STATUS: Partial<Record<Verdict, number>> = { good: 0, degraded: 1 };
const UNUSABLE = 2;

/** Examines a server and prints one line for each check. Resolves to 0 (good), 1 (degraded) or 2 (unusable). */
export async function doctor(typed: DoctorTyped, streams: Streams): Promise<number> {
  const redis = typed.redis ?? process.env.REDIS_URL;
  if (redis === undefined || redis === "")
    throw new OrielError("ARGUMENT", "--redis is missing, and so is REDIS_URL in the environment; one must be a URL");
  const deadlineMs = durationMs("--deadline", typed.deadline as Duration, 10, 60_000);
  const output = new Output(streams.stdout);
  const report = await firstAnswer(checkRedis(redis), typed.prefix ?? "oriel:", deadlineMs);
  if (typed.json) await output.write(`${JSON.stringify(report)}\n`);
  else {
    const { isTTY, columns } = streams.stdout as { isTTY?: boolean; columns?: number };
    const colors = pc.createColors(isTTY === true && pc.isColorSupported);
    await output.write(reportText(report, isTTY === true ? columns : undefined, colors));
  }
  return STATUS[report.verdict] ?? UNUSABLE;
}

/** The report about the first of a cluster's nodes that answers, else about the last one. */
async function firstAnswer(urls: readonly string[], prefix: string, deadlineMs: number): Promise<Report> {
  for (const [i, url] of urls.entries()) {
    const report = await examine(targetOf(url, urls, prefix, deadlineMs), deadlineMs);
    if (report.checks[0]?.verdict !== "unusable" || i === urls.length - 1) return report;
  }
  throw new OrielError("ARGUMENT", "--redis names no server");
}

function targetOf(url: string, urls: readonly string[], prefix: string, deadlineMs: number): DoctorTarget {
  const own = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    connectTimeout: deadlineMs,
    disconnectTimeout: 100,
    protocol: 2,
  }).options;
  // With a URL and an option, ioredis uses the URL's host.
  const clientOf = ({ host = own.host, port = own.port }: Partial<NodeAddress> = {}) =>
    new Redis({ ...own, host, port }) as SingleClient;
  const openStore = (isCluster: boolean) => {
    const options = { prefix, deadline: deadlineMs, onWarning: null };
    if (!isCluster) return redisStore(url, options);
    const client = clusterClient(urls.join(","));
    const store = redisStore(client, options);
    const close = () => store.close().finally(() => client.disconnect());
    return {
      ...store,
      get health() {
        return store.health;
      },
      close,
    };
  };
  return tcpTarget(clientOf, { openStore, prefix });
}
