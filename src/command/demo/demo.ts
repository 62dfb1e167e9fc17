import type { Colors } from "picocolors/types";
import { argumentError } from "../../base/errors.ts";
import { kernel, Series, type WatchedStore, type WindowStats } from "../../entries/index.ts";
import { dashboard } from "../../entries/structures/dashboard.ts";
import { number } from "../../operate/format.ts";
import { openStore } from "../config/open-store.ts";
import type { ServerTyped } from "../config/redis-client.ts";
import { isTaken, type Listening, listen } from "../dashboard/listen.ts";
import { tableLines } from "../live/columns.ts";
import { stopAtSignals } from "../live/screen.ts";
import { colorsFor, Output, type Streams } from "../output.ts";
import { failureLines } from "../text/failure.ts";
import { jsonLine } from "../text/safe-text.ts";
import { startServer } from "./demo-server.ts";
import { Traffic } from "./demo-traffic.ts";
import { LiveTable } from "./live-table.ts";

export interface DemoTyped extends ServerTyped {
  seconds: string;
  rate: string;
  port: string;
  keep?: boolean;
  json?: boolean;
}

export interface DemoOptions extends ServerTyped {
  readonly seconds: number;
  readonly rate: number;
  readonly port: number;
  /** Whether the requests and the dashboard go on after the summary, until Ctrl-C. */
  readonly isKept: boolean;
  readonly isJson: boolean;
}

const NAME = "oriel-demo:latency-ms";
const LIVE_SPAN_MS = 10_000;
const KEPT_MS = 3_600_000;
/** Structures announce themselves this long after they were made. */
const ANNOUNCED_AFTER_MS = 200;

export function demoOptions({
  seconds,
  rate,
  port,
  redis,
  prefix,
  tls,
  keep = false,
  json = false,
}: DemoTyped): DemoOptions {
  return {
    seconds: numberOf("--seconds", seconds, 1, 86_400),
    rate: numberOf("--rate", rate, 1, 100_000),
    port: numberOf("--port", port, 0, 65_535),
    redis,
    prefix,
    tls,
    isKept: keep,
    isJson: json,
  };
}

/**
 * Serves, requests, records and shows for a number of seconds or until SIGINT. Resolves to 0 if the series counted
 * exactly the sent requests (at least them, if other demos share it), else to 1. It stops everything that it started.
 */
export async function demo(options: DemoOptions, streams: Streams): Promise<number> {
  let aheadMs = 0;
  const monotonic = () => performance.now() + aheadMs;
  const store = openStore(options, { registry: true, monotonic });
  const retention = options.seconds * 1000 + (options.isKept ? KEPT_MS : 60_000);
  const series = new Series(store, NAME, { retention, values: "float64" });
  aheadMs = ANNOUNCED_AFTER_MS; // the dashboard lists it from its first request
  const stop = new AbortController();
  const ignoreSignals = stopAtSignals(stop);
  const output = new Output(streams.stdout);
  const closing: (() => unknown)[] = [ignoreSignals];
  try {
    // One instant of the store's own clock before the first request: the run's window begins there.
    const fromMs = (await series.stats({ span: 1 })).to;
    const server = await startServer(options.port);
    closing.push(server.close);
    const board = await serveBoard(store, (error) => streams.stderr.write(failureLines(error, options.isJson)));
    closing.push(board.close);
    await output.write(headText(options, server.url, board.address));
    const { traffic, elapsedMs } = await timed(options, series, server.url, stop, streams, output);
    const whole = await wholeRun(series, fromMs);
    const isShared = options.redis !== undefined;
    const result = { whole, traffic, elapsedMs, isShared, kernelName: kernel.name };
    const { text, json, isComplete } = demoSummary(result, colorsFor(streams.stdout));
    await output.write(options.isJson ? json : `\n${text}`);
    if (options.isKept && !stop.signal.aborted) {
      if (!options.isJson) await output.write(`requests go on; dashboard: ${board.address} (Ctrl-C ends)\n`);
      await trafficTo(server.url, options, series).run(stop.signal);
    }
    return isComplete ? 0 : 1;
  } finally {
    for (const close of closing.reverse()) await close();
    await series.close();
    await store.close();
  }
}

function headText({ redis, rate, seconds, isKept, isJson }: DemoOptions, url: string, board: string): string {
  if (isJson) return jsonLine({ server: url, dashboard: board });
  const sharing = redis === undefined ? "embedded store" : "shared through Redis";
  const keep = isKept ? "" : " (until the demo ends; --keep keeps it)";
  return `oriel demo: ${url}, ${rate} requests/s for ${seconds} s, ${sharing}\ndashboard: ${board}${keep}\n\n`;
}

function trafficTo(url: string, { rate }: DemoOptions, series: Series): Traffic {
  return new Traffic(url, rate, (latencyMs) => series.record(latencyMs));
}

/** Sends for the seconds, with a row of the table after each. Rejects when a record fails. */
async function timed(
  options: DemoOptions,
  series: Series,
  url: string,
  stop: AbortController,
  streams: Streams,
  output: Output,
): Promise<{ traffic: Traffic; elapsedMs: number }> {
  const table = new LiveTable(output, streams.stdout);
  const traffic = trafficTo(url, options, series);
  const over = new AbortController();
  const signal = AbortSignal.any([stop.signal, over.signal]);
  const startMs = performance.now();
  const sending = traffic.run(signal);
  sending.catch(() => over.abort()); // awaited below; a failing store ends the demo at once
  try {
    await everySecond(options.seconds, signal, async () => {
      const stats = await series.stats({ span: LIVE_SPAN_MS, percentiles: [50, 90, 99] });
      table.add(stats, LIVE_SPAN_MS);
      await (options.isJson ? output.write(jsonLine(stats)) : table.draw());
      if (output.isClosed) stop.abort();
    });
  } finally {
    over.abort();
    await sending;
  }
  return { traffic, elapsedMs: performance.now() - startMs };
}

/** Everything recorded since `fromMs`, that instant included, up to now; both on the store's clock. */
async function wholeRun(series: Series, fromMs: number): Promise<WindowStats> {
  const { to } = await series.stats({ span: 1 });
  return series.stats({ at: to, span: to - fromMs + 1, percentiles: [50, 90, 99, 99.9] });
}

/** Acts at whole seconds from now. A late tick does not delay the next ones. */
async function everySecond(seconds: number, signal: AbortSignal, act: () => Promise<void>): Promise<void> {
  const startMs = performance.now();
  for (let second = 1; second <= seconds && !signal.aborted; second++) {
    const waitMs = startMs + second * 1000 - performance.now();
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, Math.max(0, waitMs));
      signal.addEventListener("abort", done, { once: true });
    });
    if (!signal.aborted) await act();
  }
}

function numberOf(option: string, text: string, min: number, max: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= min && number <= max)) throw argumentError(option, text, `a whole number from ${min} to ${max}`);
  return number;
}

const HOST = "127.0.0.1";
const USUAL_PORT = 4680;

/** Serves the dashboard of a store on loopback: at the port of `oriel dashboard`, or at a free one if that is taken. */
async function serveBoard(
  store: WatchedStore,
  onError: (error: unknown) => void,
): Promise<Pick<Listening, "close"> & { address: string }> {
  const board = dashboard(store);
  const { port, close } = await listen(board, USUAL_PORT, HOST, onError).catch((error: unknown) => {
    if (!isTaken(error)) throw error;
    return listen(board, 0, HOST, onError);
  });
  return { address: `http://${HOST}:${port}/`, close };
}

interface DemoResult {
  /** Over the whole run. */
  readonly whole: WindowStats;
  readonly traffic: Pick<Traffic, "sentCount" | "failedCount">;
  readonly elapsedMs: number;
  readonly isShared: boolean;
  readonly kernelName: string;
}

const PERCENTILES = [50, 90, 99, 99.9];

/** The summary of the demo for people and for `--json`, and whether the series has every sent request once. */
function demoSummary(result: DemoResult, colors: Colors) {
  const { whole, traffic, elapsedMs, isShared, kernelName } = result;
  const { sentCount, failedCount } = traffic;
  const othersCount = isShared ? Math.max(0, whole.count - sentCount) : 0;
  const isComplete = failedCount === 0 && whole.count === sentCount + othersCount && !whole.degraded;
  const ms = (value: number | undefined) => `${number(value)} ms`;
  const lines = [
    ["requests sent", String(sentCount)],
    ["events in the series", String(whole.count)],
    ...(othersCount > 0 ? [["of these from other demos", String(othersCount)]] : []),
    ["requests/s", number((sentCount * 1000) / elapsedMs)],
    ["mean", ms(whole.mean)],
    ...PERCENTILES.map((percentile) => [`p${percentile}`, ms(whole.percentiles[percentile])]),
    ["max", ms(whole.max)],
    ["kernel", kernelName],
  ];
  const column = (i: number) => lines.map((line) => line[i]!);
  const [head = "", ...rows] = tableLines([
    { head: "the whole run", cells: column(0), rank: 0 },
    { head: "", cells: column(1), rank: 0, isRight: true },
  ]);
  const failed = failedCount > 0 ? `, ${failedCount} requests failed` : "";
  const verdict = isComplete
    ? colors.green("every request was counted, once")
    : colors.red(`NOT every request was counted once${failed}`);
  const text = [colors.bold(head), ...rows, verdict].map((line) => `${line}\n`).join("");
  return {
    text,
    json: jsonLine({ ...whole, sentCount, failedCount, othersCount, kernelName, isComplete }),
    isComplete,
  };
}
