import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { Limiter, redisStore, Series, slidingWindow } from "../../src/entries/index.ts";
import { dashboard } from "../../src/operate/dashboard/dashboard.ts";
import type { Overview } from "../../src/operate/dashboard/protocol.ts";
import type { WatchedStore } from "../../src/store/contract.ts";
import { readRegistry } from "../../src/store/registry/read-registry.ts";
import { median } from "../runner/measure.ts";
import type { Report, Row } from "../runner/report.ts";
import { browserRows } from "./browser.ts";

export interface DashboardOptions {
  /** Series on the overview; those on one screen have traffic. */
  structures: number;
  turns: number;
  phaseMs: number;
}

export const FULL_DASHBOARD: DashboardOptions = { structures: 1000, turns: 5, phaseMs: 6000 };
export const SMALL_DASHBOARD: DashboardOptions = { structures: 30, turns: 1, phaseMs: 300 };

const VISIBLE = 20;
const TICK_MS = 10;
const EVENTS_PER_TICK = 10;
const REFRESH_MS = 2000;

/** The cost of an open dashboard for a loaded Redis, and the speed of a page with many series in a browser. */
export async function benchDashboard(redisUrl: string, options: DashboardOptions): Promise<Report> {
  const redis = new Redis(redisUrl);
  let aheadMs = 0;
  const store = redisStore(redisUrl, { monotonic: () => performance.now() + aheadMs });
  const all = Array.from(
    { length: options.structures },
    (_, i) => new Series(store, `bench:${i}`, { retention: "10m" }),
  );
  const load = new Load(store, all.slice(0, VISIBLE));
  const isListed = async () =>
    (await readRegistry(store)).structures.filter(({ kind }) => kind === "Series").length >= options.structures;
  while (!(await isListed())) {
    aheadMs += 5001; // a hundred structures announce themselves every 5 s
    await all[0]!.record(1);
  }
  // Its calls are FCALL and the load's are EVALSHA, so the server counts them as different commands.
  const watching = redisStore(redisUrl, { scripting: "functions" });
  const site = await siteOf(watching);
  try {
    const rows = await costs(redis, site.url, load, options);
    rows.push(...(await browserRows(site.url, options.structures)));
    return {
      bench: "dashboard",
      title: `An open dashboard beside ${VISIBLE} loaded series and a limiter, of ${options.structures} series`,
      rows,
      notes: [
        "share: of one core, since Redis runs commands on one core only.",
        "calls: the server's time in the dashboard's commands (INFO commandstats: FCALL and INFO; the load sends EVALSHA).",
        "all: the server's CPU time with an open page, less that of as many events in the phases before and after. It has the sockets, too. Its noise is half of the difference of the phases before and after. Each is the median of all turns.",
        "Frames and the first chart: in headless Chromium, without a graphics card, beside the load's own process.",
      ],
    };
  } finally {
    load.stop();
    await site.close();
    await Promise.all(all.map((each) => each.close()));
    await redis.flushall();
    await watching.close();
    await store.close();
    await redis.quit();
  }
}

/** Events and calls at a fixed rate. */
class Load {
  readonly #timer: ReturnType<typeof setInterval>;
  count = 0;

  constructor(store: WatchedStore, series: readonly Series[]) {
    const limiter = new Limiter(store, [slidingWindow({ limit: 1e9, span: "1m" })], { name: "bench" });
    this.#timer = setInterval(() => {
      for (const each of series)
        for (let i = 0; i < EVENTS_PER_TICK; i++) each.record(Math.random() * 100).catch(() => {});
      for (let i = 0; i < series.length; i++) limiter.take(`caller ${i}`).catch(() => {});
      this.count += series.length * (EVENTS_PER_TICK + 1);
    }, TICK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

async function costs(redis: Redis, url: string, load: Load, { turns, phaseMs }: DashboardOptions): Promise<Row[]> {
  const { structures } = (await (await fetch(`${url}api/overview`)).json()) as Overview;
  const visible = structures.filter(({ kind, name }) => kind === "Series" && Number(name.split(":")[1]) < VISIBLE);
  const pages: Record<string, (signal: AbortSignal) => Promise<void>> = {
    overview: (signal) =>
      overviewPage(
        url,
        visible.map(({ id }) => id),
        signal,
      ),
    "series view": (signal) => seriesPage(url, visible[0]!.id, signal),
  };
  const rows: Row[] = [];
  for (const [what, open] of Object.entries(pages)) {
    const shares: Record<"calls" | "all" | "noise" | "load", number>[] = [];
    const rates: number[] = [];
    for (let turn = 0; turn < turns; turn++) {
      const before = await phase(redis, load, phaseMs);
      const page = new AbortController();
      const watching = open(page.signal);
      const during = await phase(redis, load, phaseMs);
      page.abort();
      await watching.catch(() => {});
      const after = await phase(redis, load, phaseMs);
      const [first, last] = [before.cpuMs / before.count, after.cpuMs / after.count];
      const without = (first + last) / 2;
      shares.push({
        calls: during.callsMs / phaseMs,
        all: (during.cpuMs - without * during.count) / phaseMs,
        noise: ((Math.abs(first - last) / 2) * during.count) / phaseMs,
        load: (without * during.count) / phaseMs,
      });
      rates.push((during.count * 1000) / phaseMs);
    }
    const eventsPerSecond = median(rates);
    const share = (of: keyof (typeof shares)[0]) => median(shares.map((each) => each[of]));
    rows.push({ what: `the load, without the ${what}`, eventsPerSecond, share: share("load"), ms: "" });
    rows.push({ what: `calls of the ${what}`, eventsPerSecond, share: share("calls"), ms: "" });
    rows.push({ what: `all of the ${what}`, eventsPerSecond, share: share("all"), ms: "" });
    rows.push({ what: "  its noise", eventsPerSecond, share: share("noise"), ms: "" });
  }
  return rows;
}

interface Used {
  cpuMs: number;
  /** In commands of the dashboard. */
  callsMs: number;
}

async function phase(redis: Redis, load: Load, phaseMs: number): Promise<Used & { count: number }> {
  const [from, counted] = [await usedBy(redis), load.count];
  await sleep(phaseMs);
  const to = await usedBy(redis);
  const count = Math.max(1, load.count - counted);
  return { cpuMs: to.cpuMs - from.cpuMs, callsMs: to.callsMs - from.callsMs, count };
}

async function usedBy(redis: Redis): Promise<Used> {
  const text = (await redis.info("cpu")) + (await redis.info("commandstats"));
  const cpuOf = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(text)?.[1]);
  const usOf = (name: string) => Number(new RegExp(`^cmdstat_${name}:.*usec=(\\d+)`, "m").exec(text)?.[1] ?? 0);
  return {
    cpuMs: 1000 * (cpuOf("used_cpu_user") + cpuOf("used_cpu_sys")),
    callsMs: (usOf("fcall") + usOf("info")) / 1000,
  };
}

/** As the page's script: a stream with the rows on the screen. */
async function overviewPage(url: string, ids: readonly string[], signal: AbortSignal): Promise<void> {
  const response = await fetch(`${url}api/stream?rows=${ids.join(",")}&span=300000`, { signal });
  let text = "";
  for await (const part of response.body!) text = (text + new TextDecoder().decode(part)).slice(-100_000);
  if (!text.includes("event: rows")) throw new Error("the stream has no rows");
}

async function seriesPage(url: string, id: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const response = await fetch(`${url}api/part?id=${id}&part=view&span=300000&buckets=120`, { signal });
    const { whole } = (await response.json()) as { whole: { count: number } };
    if (!(whole.count > 0)) throw new Error("the view has no events");
    await sleep(REFRESH_MS, undefined, { signal });
  }
}

async function siteOf(store: WatchedStore): Promise<{ url: string; close(): Promise<void> }> {
  const board = dashboard(store);
  const server = createServer((request, response) => void board.node(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close };
}
