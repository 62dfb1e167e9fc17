/** A metric for both ecosystems, in base units; times are in seconds. */
export interface MetricInfo {
  /** Name after the prefix. Counters end in `_total`. */
  prometheus: string;
  otel: string;
  type: "counter" | "gauge" | "histogram";
  /** UCUM unit, as OpenTelemetry requires. */
  unit: string;
  help: string;
  /**
   * True if the number is that of all processes together. `registerAll` lets one elected process report it. Without it
   * each process reports the same number: aggregate it with `max by (name)`.
   */
  isShared: boolean;
  /** How numbers with the same labels are combined. Default "sum", and "max" for shared ones. */
  aggregator?: "sum" | "max" | undefined;
}

/** One number, with the labels that distinguish it from the others of its metric. */
export interface Sample {
  /** Of a histogram, the number of its values. */
  value: number;
  labels: Record<string, string>;
  histogram?: HistogramCounts | undefined;
}

/** The values that a histogram has counted so far, in two ways. */
export interface HistogramCounts {
  /** Upper boundaries, rising. */
  readonly boundaries: readonly number[];
  /** Whether a program has asked for these boundaries. */
  readonly isAsked: boolean;
  /** The values up to each boundary and above the one before it. The last count is of those above all, and of NaN. */
  readonly counts: ArrayLike<number>;
  /** The sum of the finite values. */
  readonly sum: number;
  readonly powers: PowerCounts;
}

/**
 * Counts by size, as native histograms of Prometheus have them. The value of an index is at most 2 ** (index / 2 ** schema),
 * and above that of the index before.
 */
export interface PowerCounts {
  readonly schema: number;
  /** Values too small for an index. */
  readonly zeros: number;
  readonly positive: ReadonlyMap<number, number>;
  readonly negative: ReadonlyMap<number, number>;
}

/** A source of metrics, created by `registerAll`, `fleetSource`, `windowSource`, `limiterSource` and so on. */
export interface MetricsSource {
  readonly metrics: readonly MetricInfo[];
  /** Returns the samples of each metric, in the order of the metrics. Rejects with the store's error. */
  collect(): Promise<readonly (readonly Sample[])[]>;
  /** The sources that this one consists of now. Each is collected by itself, so that one that fails hides no other. */
  parts?(): readonly MetricsSource[];
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

const SPAN_UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1000, "s"],
] as const;

/** The length of a window as a label: "1m", "90s", "250ms". */
export function spanLabel(ms: number): string {
  const [unitMs, unit] = SPAN_UNITS.find(([unitMs]) => ms % unitMs === 0) ?? [1, "ms"];
  return `${ms / unitMs}${unit}`;
}

/** Identifies a sample within its metric. */
export function sampleKey({ labels }: Sample): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function counter(prometheus: string, otel: string, unit: string, help: string): MetricInfo {
  return { prometheus: `${prometheus}_total`, otel, type: "counter", unit, help, isShared: false };
}

/** Counters, by their labels. */
export class Totals {
  readonly #samples = new Map<string, Sample>();

  add(labels: Record<string, string>, count = 1): void {
    this.of(labels).value += count;
  }

  /** The counter of these labels, from 0: Prometheus sees the first increase. Keep it to count often. */
  of(labels: Record<string, string>): Sample {
    const key = JSON.stringify(Object.values(labels));
    let sample = this.#samples.get(key);
    if (!sample) {
      sample = { value: 0, labels };
      this.#samples.set(key, sample);
    }
    return sample;
  }

  samples(): Sample[] {
    return [...this.#samples.values()].map((each) => ({ ...each }));
  }
}

/** The names of one kind of structures that have labels of their own. All later names share one label. */
export class Names {
  readonly #maxNames: number;
  readonly #own = new Set<string>();

  constructor(maxNames = Number.POSITIVE_INFINITY) {
    this.#maxNames = maxNames;
  }

  /** Whether the name has its own label, or gets it now. */
  has(name: string): boolean {
    if (this.#own.has(name)) return true;
    if (this.#own.size >= this.#maxNames) return false;
    this.#own.add(name);
    return true;
  }

  labelOf(name: string): string {
    return nameLabel(this.has(name) ? name : "");
  }
}
