import type { ConnectionOptions } from "node:tls";
import { Redis } from "ioredis";
import { OrielError } from "../../base/errors.ts";
import { type Duration, durationMs } from "../../base/time.ts";
import { httpStore, redisStore, type TlsOptions } from "../../entries/index.ts";
import { type Verdict, worstOf } from "../../operate/doctor/check.ts";
import type { DoctorTarget, NodeAddress } from "../../operate/doctor/connection.ts";
import { examine, type Report } from "../../operate/doctor/examine.ts";
import { httpTarget } from "../../operate/doctor/http-connection.ts";
import { type SingleClient, tcpTarget } from "../../operate/doctor/tcp-connection.ts";
import { readTls } from "../config/options.ts";
import { checkRedis, clusterClient, type ServerTyped } from "../config/redis-client.ts";
import { colorsFor, Output, type Streams, widthOf } from "../output.ts";
import { jsonLine } from "../text/safe-text.ts";
import { kernelCheck } from "./kernel-check.ts";
import { reportText } from "./report-text.ts";

export interface DoctorTyped extends ServerTyped {
  url?: string;
  deadline: string;
  json?: boolean;
  tlsCa?: string;
  tlsCert?: string;
  tlsKey?: string;
  /** Of a REST server, from the configuration file. */
  token?: string;
}

const STATUS: Partial<Record<Verdict, number>> = { good: 0, degraded: 1 };
const UNUSABLE = 2;

/** Examines a server and prints one line for each check. Resolves to 0 (good), 1 (degraded) or 2 (unusable). */
export async function doctor(typed: DoctorTyped, streams: Streams): Promise<number> {
  const deadlineMs = durationMs("--deadline", typed.deadline as Duration, 10, 60_000);
  const tls = tlsOf(typed);
  const options = { prefix: typed.prefix ?? "oriel:", deadline: deadlineMs, onWarning: null, ...(tls && { tls }) };
  const output = new Output(streams.stdout);
  const report = withKernel(withOptions(await firstAnswer(targetsOf(typed, options), deadlineMs)));
  if (typed.json) await output.write(jsonLine(report));
  else {
    await output.write(reportText(report, widthOf(streams.stdout), colorsFor(streams.stdout)));
  }
  return STATUS[report.verdict] ?? UNUSABLE;
}

/** The statistics are computed in the process, so the command examines itself, too. */
function withKernel(report: Report): Report {
  const checks = [...report.checks, kernelCheck()];
  return { ...report, verdict: worstOf(checks), checks };
}

/** Names the command's options for TLS beside those of a program. */
function withOptions(report: Report): Report {
  const named = (text: string) =>
    text
      .replace("tls: { ca }", "--tls-ca here, tls: { ca } in a program")
      .replace("tls: { cert, key }", "--tls-cert and --tls-key here, tls: { cert, key } in a program");
  const checks = report.checks.map((check) => ({
    ...check,
    text: named(check.text),
    ...(check.advice !== undefined && { advice: named(check.advice) }),
  }));
  return { ...report, checks };
}

interface StoreOptions {
  prefix: string;
  deadline: number;
  onWarning: null;
  tls?: TlsOptions;
}

/** The files of the options, else those of the configuration file. */
function tlsOf({ tls, tlsCa, tlsCert, tlsKey, url }: DoctorTyped): TlsOptions | undefined {
  if (tlsCa === undefined && tlsCert === undefined && tlsKey === undefined) return url === undefined ? tls : undefined;
  if (url !== undefined)
    throw new OrielError("ARGUMENT", "--tls-ca, --tls-cert and --tls-key belong to --redis; --url is given");
  return {
    ...tls,
    ...(tlsCa !== undefined && { ca: readTls("--tls-ca", tlsCa) }),
    ...(tlsCert !== undefined && { cert: readTls("--tls-cert", tlsCert) }),
    ...(tlsKey !== undefined && { key: readTls("--tls-key", tlsKey) }),
  };
}

/** The report about the first of a cluster's nodes that answers, else about the last one. */
async function firstAnswer(targets: readonly DoctorTarget[], deadlineMs: number): Promise<Report> {
  const [target, ...others] = targets as [DoctorTarget, ...DoctorTarget[]];
  const report = await examine(target, deadlineMs);
  const isAnswered = report.checks[0]?.verdict !== "unusable";
  return isAnswered || others.length === 0 ? report : firstAnswer(others, deadlineMs);
}

function targetsOf({ redis, url, token }: DoctorTyped, options: StoreOptions): DoctorTarget[] {
  if (url !== undefined) return [restTarget(url, token, options)];
  if (redis === undefined || redis === "")
    throw new OrielError(
      "ARGUMENT",
      "--redis is missing, and so are REDIS_URL in the environment and redis in a configuration file; one must be a URL",
    );
  const urls = checkRedis(redis);
  return urls.map((each) => redisTarget(each, urls, options));
}

/** The token comes from the environment, because every user of the machine can read a process's arguments. */
function restTarget(url: string, listed: string | undefined, options: StoreOptions): DoctorTarget {
  const token = process.env.UPSTASH_REDIS_REST_TOKEN || listed;
  if (token === undefined)
    throw new OrielError(
      "ARGUMENT",
      "--url needs UPSTASH_REDIS_REST_TOKEN in the environment, or token in a configuration file; both are missing",
    );
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
