/** A metric for both ecosystems, in base units; times are in seconds. */
export interface MetricInfo {
  /** Name after the prefix. Counters end in `_total`. */
  prometheus: string;
  otel: string;
  type: "counter" | "gauge";
  /** UCUM unit, as OpenTelemetry requires. */
  unit: string;
  help: string;
  /** True if each process reports the same shared number. Aggregate it with `max by (name)`, never with a sum. */
  isShared: boolean;
}

/** One number, with the labels that distinguish it from the others of its metric. */
export interface Sample {
  value: number;
  labels: Record<string, string>;
}

/** A source of metrics, created by `fleetSource`, `windowSource`, `limiterSource` and so on. */
export interface MetricsSource {
  readonly metrics: readonly MetricInfo[];
  /** Returns the samples of each metric, in the order of the metrics. Rejects with the store's error. */
  collect(): Promise<readonly (readonly Sample[])[]>;
}

/** Label of entries without a name: Prometheus treats an empty label as missing. */
const OTHERS = "_other";

/** The label of a name. It is unique, even for a name that equals the label of all others. */
export function nameLabel(name: string): string {
  if (name === "") return OTHERS;
  return /^_+other$/.test(name) ? `_${name}` : name;
}

/** Times in seconds. An empty window gives no sample instead of NaN. */
export function seconds(ms: number, labels: Record<string, string>): Sample[] {
  return Number.isFinite(ms) ? [{ value: ms / 1000, labels }] : [];
}

/** A percentage as a quantile, without rounding errors of the division. */
export function quantileLabel(percentile: number): string {
  return `${Number((percentile / 100).toPrecision(12))}`;
}

/** Counters, by their labels. */
export class Totals {
  readonly #samples = new Map<string, Sample>();

  add(labels: Record<string, string>, count = 1): void {
    const key = JSON.stringify(Object.values(labels));
    const sample = this.#samples.get(key);
    if (sample) sample.value += count;
    else this.#samples.set(key, { value: count, labels });
  }

  samples(): Sample[] {
    return [...this.#samples.values()].map((each) => ({ ...each }));
  }
}
