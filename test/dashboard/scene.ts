import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Lock, Series, SeriesGroup } from "../../src/entries/index.ts";
import { type Dashboard, dashboard } from "../../src/operate/dashboard/dashboard.ts";
import type { DashboardOptions } from "../../src/operate/dashboard/options.ts";
import type { Overview, StructureEntry } from "../../src/operate/dashboard/protocol.ts";
import type { WatchedStore } from "../../src/store/contract.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import { readRegistry } from "../../src/store/registry/read-registry.ts";
import { atEnd } from "../harness/ends.ts";
import { RespConnection } from "../harness/network/resp-connection.ts";
import { until } from "../harness/until.ts";

/** A store whose structures announce themselves at once, since its monotonic clock can be stepped. */
export interface Scene {
  readonly store: WatchedStore;
  /** Announces what was made so far, and waits until the registry lists `count` structures or more. */
  announced(count: number): Promise<void>;
}

export function sceneOn(url: string): Scene {
  let aheadMs = 0;
  const store = redisStore(url, { deadline: "10s", onWarning: null, monotonic: () => performance.now() + aheadMs });
  atEnd(() => store.close());
  return {
    store,
    async announced(count) {
      await until(`${count} structures are announced`, async () => {
        aheadMs += 5001; // a hundred structures announce themselves every 5 s
        await new Lock(store, "announcing").inspect();
        return (await readRegistry(store)).structures.length >= count;
      });
    },
  };
}

/** The same, on a server without any key. */
export async function emptyScene(url: string): Promise<Scene> {
  const raw = new RespConnection(url);
  await raw.send([["FLUSHALL"]]);
  raw.close();
  return sceneOn(url);
}

/** A series with `count` events of the last `spanMs`, of a long-tailed distribution. */
export async function filledSeries(store: WatchedStore, name: string, count = 2000, spanMs = 240_000): Promise<Series> {
  const series = new Series(store, name, { retention: "1h" });
  const { to } = await series.stats({ percentiles: [] });
  const values = Float64Array.from({ length: count }, (_, i) => 5 + ((i * 7919) % 1000) ** 1.5 / 100);
  const at = Float64Array.from({ length: count }, (_, i) => to - Math.floor((spanMs * (count - i)) / count));
  await series.recordMany(values, { at });
  atEnd(() => series.close());
  return series;
}

/** Events of the last `spanMs` in 24 groups of the labels route and method. The first routes have most of them. */
export async function filledGroup(store: WatchedStore, name: string, count = 2000, spanMs = 240_000) {
  const group = new SeriesGroup(store, name, { labels: ["route", "method"], retention: "1h" });
  const { to } = await group.stats({ percentiles: [] });
  const values = Array.from({ length: count }, (_, i) => 5 + ((i * 7919) % 1000) ** 1.5 / 100);
  await Promise.all(
    values.map((value, i) => {
      const route = `/r${Math.min(11, Math.floor(12 * ((i * 0.6180339887) % 1) ** 2))}`;
      const at = to - Math.floor((spanMs * (count - i)) / count);
      return group.record(value, { route, method: i % 3 === 0 ? "POST" : "GET" }, { at });
    }),
  );
  atEnd(() => group.close());
  return group;
}

export interface Site {
  readonly url: string;
  readonly board: Dashboard;
}

/** The dashboard behind a server of Node, below a path. */
export async function siteOf(store: WatchedStore, options: DashboardOptions = {}): Promise<Site> {
  const board = dashboard(store, options);
  const server = createServer((request, response) => {
    board.node(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/below/`, board };
}

export type Answer = Overview & { form: string };

export async function json<T>(response: Response | Promise<Response>): Promise<T> {
  return (await (await response).json()) as T;
}

/** Asks a dashboard without a server. */
export function get(board: Dashboard, path: string, headers: Record<string, string> = {}): Promise<Response> {
  return board.fetch(new Request(`http://localhost:4680/ops/${path}`, { headers }));
}

export async function entryOf(board: Dashboard, kind: string, name: string): Promise<StructureEntry> {
  const { structures } = await json<Answer>(get(board, "api/overview"));
  const found = structures.find((each) => each.kind === kind && each.name === name);
  if (!found) throw new Error(`${kind} ${name} is not among the ${structures.length} structures`);
  return found;
}
