/** A metric as both ecosystems name it: base units, seconds for times. */
export interface MetricInfo {
  /** After the prefix; counters end in `_total`. */
  prometheus: string;
  otel: string;
  type: "counter" | "gauge";
  /** By UCUM, as OpenTelemetry has it. */
  unit: string;
  help: string;
  /** True where each process tells the same number of what all share: `max by (name)`, never a sum. */
  isShared: boolean;
}

/** One number, with what tells it from the others of its metric. */
export interface Sample {
  value: number;
  labels: Record<string, string>;
}

/** What an exporter reads: made by `fleetSource`, `windowSource`, `limiterSource` and so on. */
export interface MetricsSource {
  readonly metrics: readonly MetricInfo[];
  /** Of each of the metrics, in their order, its samples. Rejects with what the store rejects with. */
  collect(): Promise<readonly (readonly Sample[])[]>;
}

/** What has no name of its own: an empty label would be none. */
const OTHERS = "_other";

/** The label of a name: different for each, also for one that looks like the label of all others. */
export function nameLabel(name: string): string {
  if (name === "") return OTHERS;
  return /^_+other$/.test(name) ? `_${name}` : name;
}

/** An empty window has no times: no sample rather than NaN. */
export function seconds(ms: number, labels: Record<string, string>): Sample[] {
  return Number.isFinite(ms) ? [{ value: ms / 1000, labels }] : [];
}

/** Percent as a quantile, without the dust of the division. */
export function quantileLabel(percentile: number): string {
  return `${Number((percentile / 100).toPrecision(12))}`;
}

/** Counts that only rise, by their labels. */
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
