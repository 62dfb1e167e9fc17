import { createRequire } from "node:module";
import { METHODS, type P99s, ROUTE, ROUTE_NAMES, type RowsBy } from "../../groups/calls.ts";
import { type GroupsRival, timed } from "./contract.ts";

const require = createRequire(import.meta.url);
const MODULE = "prom-client";

/** In ms. Those that prom-client has by default, and two for long calls. */
const BUCKETS = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000];
const LABELS = ["route", "method"];

interface Sample {
  metricName?: string;
  labels: { route: string; method: string; le?: number | "+Inf"; quantile?: number };
  value: number;
}
interface Metric {
  observe(labels: { route: string; method: string }, value: number): void;
  get(): Promise<{ values: Sample[] }>;
}
type MetricClass = new (options: object) => Metric;

/** A metric in the memory of one process. `read` gets its samples, as an exporter reads them. */
function metric(
  kind: "Histogram" | "Summary",
  options: object,
  read: Record<string, (samples: Sample[]) => P99s>,
): GroupsRival {
  const name = `prom-client ${kind}`;
  return {
    name,
    isEstimate: true,
    missing() {
      try {
        require.resolve(MODULE);
        return undefined;
      } catch {
        return `${MODULE} is not installed (npm ci in bench/)`;
      }
    },
    async open({ values, routes, methods }) {
      const Metric = (require(MODULE) as Record<string, MetricClass>)[kind]!;
      const opened = new Metric({ name: "latency", help: "in ms", labelNames: LABELS, registers: [], ...options });
      return {
        record(from, to) {
          for (let i = from; i < to; i++)
            opened.observe({ route: ROUTE_NAMES[routes[i]!]!, method: METHODS[methods[i]!]! }, values[i]!);
        },
        asks: [
          {
            name,
            rows: Object.keys(read) as RowsBy[],
            // Its samples alone are no answer, so the time of `read` counts.
            ask: (by) =>
              timed(
                async () => read[by]!((await opened.get()).values),
                (p99s) => p99s,
              ),
          },
        ],
        close() {},
      };
    },
  };
}

function routeOf({ labels }: Sample): number {
  return Number(labels.route.slice(ROUTE.length));
}

function groupOf(sample: Sample): number {
  return routeOf(sample) * METHODS.length + METHODS.indexOf(sample.labels.method as "GET");
}

/** As `histogram_quantile` of Prometheus: within its bucket a value is as likely everywhere. */
function ofBuckets(samples: Sample[], rowOf: (sample: Sample) => number): P99s {
  const counts = new Map<number, Float64Array>();
  for (const sample of samples) {
    const { le } = sample.labels;
    if (le === undefined) continue; // its sum or its count
    const row = rowOf(sample);
    const its = counts.get(row) ?? new Float64Array(BUCKETS.length + 1);
    counts.set(row, its);
    its[le === "+Inf" ? BUCKETS.length : BUCKETS.indexOf(le)]! += sample.value;
  }
  return new Map([...counts].map(([row, its]) => [row, quantileOf(its, 0.99)]));
}

/** `counts`: the number of values up to each bound. */
function quantileOf(counts: Float64Array, share: number): number {
  const rank = share * counts.at(-1)!;
  const bucket = counts.findIndex((count) => count >= rank);
  const [low, high] = [BUCKETS[bucket - 1] ?? 0, BUCKETS[bucket]];
  if (high === undefined) return low;
  const before = counts[bucket - 1] ?? 0;
  return low + ((high - low) * (rank - before)) / (counts[bucket]! - before);
}

export const histogram = metric(
  "Histogram",
  { buckets: BUCKETS },
  { route: (samples) => ofBuckets(samples, routeOf), group: (samples) => ofBuckets(samples, groupOf) },
);

/** A t-digest for each group, which cannot answer for unions of them. */
export const summary = metric(
  "Summary",
  { percentiles: [0.99] },
  {
    group: (samples) =>
      new Map(
        samples.flatMap((sample) =>
          sample.labels.quantile === 0.99 ? [[groupOf(sample), sample.value] as const] : [],
        ),
      ),
  },
);
