import { kernel, Series, type WindowStats } from "../../entries/index.ts";
import { argumentError } from "../../errors.ts";
import { openStore } from "../open-store.ts";
import { Output } from "../output.ts";
import type { Streams } from "../streams.ts";
import { startServer } from "./demo-server.ts";
import { demoSummary } from "./demo-summary.ts";
import { Traffic } from "./demo-traffic.ts";
import { LiveTable } from "./live-table.ts";

export interface DemoTyped {
  seconds: string;
  rate: string;
  port: string;
  redis?: string;
  prefix?: string;
}

export interface DemoOptions {
  readonly seconds: number;
  readonly rate: number;
  readonly port: number;
  readonly redis: string | undefined;
  readonly prefix: string | undefined;
}

const NAME = "oriel-demo:latency-ms";
const LIVE_SPAN_MS = 10_000;

export function demoOptions({ seconds, rate, port, redis, prefix }: DemoTyped): DemoOptions {
  return {
    seconds: numberOf("--seconds", seconds, 1, 86_400),
    rate: numberOf("--rate", rate, 1, 100_000),
    port: numberOf("--port", port, 0, 65_535),
    redis,
    prefix,
  };
}

/**
 * Serves, requests, records and shows for a number of seconds or until SIGINT. Resolves to 0 if the series counted
 * exactly the sent requests (at least them, if other demos share it), else to 1. It stops everything that it started.
 */
export async function demo(options: DemoOptions, streams: Streams): Promise<number> {
  const store = openStore(options.redis, options.prefix);
  const retention = options.seconds * 1000 + 60_000;
  const series = new Series(store, NAME, { retention, values: "float64" });
  const stop = new AbortController();
  const interrupt = () => stop.abort();
  process.once("SIGINT", interrupt);
  let sending: Promise<void> | undefined;
  let server: Awaited<ReturnType<typeof startServer>> | undefined;
  try {
    // One instant of the store's own clock before the first request: the run's window begins there.
    const fromMs = (await series.stats({ span: 1 })).to;
    server = await startServer(options.port);
    const output = new Output(streams.stdout);
    const sharing = options.redis === undefined ? "embedded store" : "shared through Redis";
    await output.write(
      `oriel demo: ${server.url}, ${options.rate} requests/s for ${options.seconds} s, ${sharing}\n\n`,
    );
    const table = new LiveTable(output, streams.stdout.isTTY === true);
    const traffic = new Traffic(server.url, options.rate, (latencyMs) => series.record(latencyMs));
    const startMs = performance.now();
    sending = traffic.run(stop.signal);
    sending.catch(() => stop.abort()); // awaited below; a failing store ends the demo at once
    await everySecond(options.seconds, stop.signal, async () => {
      table.add(await series.stats({ span: LIVE_SPAN_MS, percentiles: [50, 90, 99] }), LIVE_SPAN_MS);
      await table.draw();
      if (output.isClosed) stop.abort();
    });
    const elapsedMs = performance.now() - startMs;
    stop.abort();
    await sending;
    const whole = await wholeRun(series, fromMs);
    const isShared = options.redis !== undefined;
    const { text, isComplete } = demoSummary({ whole, traffic, elapsedMs, isShared, kernelName: kernel.name });
    await output.write(`\n${text}`);
    return isComplete ? 0 : 1;
  } finally {
    process.removeListener("SIGINT", interrupt);
    stop.abort();
    await sending?.catch(() => {});
    await server?.close();
    await series.close();
    await store.close();
  }
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
