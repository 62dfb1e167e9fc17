import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import { Redis } from "ioredis";
import type { Verdict } from "../../doctor/check.ts";
import type { DoctorTarget, NodeAddress } from "../../doctor/connection.ts";
import { examine, type Report } from "../../doctor/examine.ts";
import { httpTarget } from "../../doctor/http-connection.ts";
import { type SingleClient, tcpTarget } from "../../doctor/tcp-connection.ts";
import { httpStore, redisStore, type TlsOptions } from "../../entries/index.ts";
import { OrielError } from "../../errors.ts";
import { type Duration, durationMs } from "../../time.ts";
import { Output } from "../output.ts";
import { checkRedis, clusterClient } from "../redis-client.ts";
import type { Streams } from "../streams.ts";
import { colorsFor, widthOf } from "../terminal.ts";
import { reportText } from "./report-text.ts";

export interface DoctorTyped {
  redis?: string;
  url?: string;
  prefix?: string;
  deadline: string;
  json?: boolean;
  tlsCa?: string;
  tlsCert?: string;
  tlsKey?: string;
}

const STATUS: Partial<Record<Verdict, number>> = { good: 0, degraded: 1 };
const UNUSABLE = 2;

/** Examines a server and prints one line for each check. Resolves to 0 (good), 1 (degraded) or 2 (unusable). */
export async function doctor(typed: DoctorTyped, streams: Streams): Promise<number> {
  const deadlineMs = durationMs("--deadline", typed.deadline as Duration, 10, 60_000);
  const tls = tlsOf(typed);
  const options = { prefix: typed.prefix ?? "oriel:", deadline: deadlineMs, onWarning: null, ...(tls && { tls }) };
  const output = new Output(streams.stdout);
  const report = await firstAnswer(targetsOf(typed, options), deadlineMs);
  if (typed.json) await output.write(`${JSON.stringify(report)}\n`);
  else {
    await output.write(reportText(report, widthOf(streams.stdout), colorsFor(streams.stdout)));
  }
  return STATUS[report.verdict] ?? UNUSABLE;
}

interface StoreOptions {
  prefix: string;
  deadline: number;
  onWarning: null;
  tls?: TlsOptions;
}

/** Reads the files of TLS. The key comes from a file, because every user of the machine can read a process's arguments. */
function tlsOf({ tlsCa, tlsCert, tlsKey, url }: DoctorTyped): TlsOptions | undefined {
  if (tlsCa === undefined && tlsCert === undefined && tlsKey === undefined) return undefined;
  if (url !== undefined)
    throw new OrielError("ARGUMENT", "--tls-ca, --tls-cert and --tls-key belong to --redis; --url is given");
  const read = (option: string, path: string | undefined) => {
    if (path === undefined) return undefined;
    try {
      return readFileSync(path, "utf8");
    } catch (cause) {
      throw new OrielError("ARGUMENT", `${option} cannot be read: ${(cause as Error).message}`, { cause });
    }
  };
  return { ca: read("--tls-ca", tlsCa), cert: read("--tls-cert", tlsCert), key: read("--tls-key", tlsKey) };
}

/** The report about the first of a cluster's nodes that answers, else about the last one. */
async function firstAnswer(targets: readonly DoctorTarget[], deadlineMs: number): Promise<Report> {
  const [target, ...others] = targets as [DoctorTarget, ...DoctorTarget[]];
  const report = await examine(target, deadlineMs);
  const isAnswered = report.checks[0]?.verdict !== "unusable";
  return isAnswered || others.length === 0 ? report : firstAnswer(others, deadlineMs);
}

function targetsOf({ redis = process.env.REDIS_URL, url }: DoctorTyped, options: StoreOptions): DoctorTarget[] {
  if (url !== undefined) return [restTarget(url, options)];
  if (redis === undefined || redis === "")
    throw new OrielError("ARGUMENT", "--redis is missing, and so is REDIS_URL in the environment; one must be a URL");
  const urls = checkRedis(redis);
  return urls.map((each) => redisTarget(each, urls, options));
}

/** The token comes from the environment, because every user of the machine can read a process's arguments. */
function restTarget(url: string, options: StoreOptions): DoctorTarget {
  const token = process.env.UPSTASH_REDIS_REST_TOKEN ?? "";
  if (token === "")
    throw new OrielError("ARGUMENT", "--url needs UPSTASH_REDIS_REST_TOKEN in the environment; it is missing");
  const openStore = () => httpStore({ url, token, ...options });
  const { address = url } = openStore(); // throws for a wrong URL
  return httpTarget(
    { url: address, token, fetch: (...request) => fetch(...request) },
    { openStore, prefix: options.prefix },
  );
}

function redisTarget(url: string, urls: readonly string[], options: StoreOptions): DoctorTarget {
  const { tls, ...others } = options;
  if (tls) void redisStore(url, options).close(); // throws for files that are no PEM
  const own = new Redis(url, {
    ...(tls && { tls: tls as ConnectionOptions }),
    lazyConnect: true,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    connectTimeout: options.deadline,
    disconnectTimeout: 100,
    protocol: 2,
  }).options;
  // With a URL and an option, ioredis uses the URL's host.
  const clientOf = ({ host = own.host, port = own.port }: Partial<NodeAddress> = {}) =>
    new Redis({ ...own, host, port }) as SingleClient;
  const openStore = (isCluster: boolean) => {
    if (!isCluster) return redisStore(url, options);
    const client = clusterClient(urls.join(","), tls && { redisOptions: { tls: tls as ConnectionOptions } });
    const store = redisStore(client, others);
    const close = () => store.close().finally(() => client.disconnect());
    return {
      ...store,
      get health() {
        return store.health;
      },
      close,
    };
  };
  return tcpTarget(clientOf, { openStore, prefix: options.prefix });
}
