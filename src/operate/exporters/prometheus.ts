import { argumentError } from "../../base/errors.ts";
import { settingsOf } from "../../base/options.ts";
import { atSite } from "../../base/site.ts";
import { aggregatorOf, collectFrom, type MetricsSources, metricsOf, sourcesOf } from "./collect.ts";
import type { MetricInfo, Sample } from "./metric.ts";
import { EXPORTER, type ExporterOptions } from "./options.ts";

/** The members of a Registry of prom-client 14 or 15 that are used here. */
export interface PrometheusRegistry {
  // biome-ignore lint/suspicious/noExplicitAny: prom-client's own type is a class with private fields.
  registerMetric(metric: any): void;
  removeSingleMetric(name: string): void;
}

/**
 * Returns all metrics in Prometheus' text format 0.0.4 (`text/plain; version=0.0.4`). A source that cannot be read is
 * left out and counted in `exporter_failed_sources`. Rejects with ARGUMENT, or if all sources fail. Source:
 * prometheus.io, "Exposition formats".
 */
export async function prometheusText(source: MetricsSources, options: ExporterOptions = {}): Promise<string> {
  const { prefix, labels, sources } = atSite("prometheusText", () => ({
    ...settingsOf(EXPORTER, options),
    sources: sourcesOf(source),
  }));
  const all = await collectFrom(sources);
  const lines: string[] = [];
  for (const { prometheus, help, type } of metricsOf(sources)) {
    const samples = all.get(prometheus) ?? [];
    if (samples.length === 0) continue;
    const name = `${prefix}_${prometheus}`;
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    for (const sample of samples)
      for (const { part, labels: own, value } of numbersOf(sample))
        lines.push(`${name}${part}${labelText({ ...labels, ...own })} ${valueText(value)}`);
  }
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

/**
 * Registers the metrics with a prom-client registry, which reads all of them once per scrape. Returns a function that
 * unregisters them. Throws ARGUMENT. A source that cannot be read is left out and counted in `exporter_failed_sources`;
 * other sources and the registry's own metrics are unaffected. If all sources fail, the scrape rejects.
 */
export function registerPrometheus(
  registry: PrometheusRegistry,
  source: MetricsSources,
  options: ExporterOptions = {},
): () => void {
  return atSite("registerPrometheus", () => {
    const { prefix, labels } = settingsOf(EXPORTER, options);
    const sources = sourcesOf(source);
    if (typeof registry?.registerMetric !== "function" || typeof registry.removeSingleMetric !== "function")
      throw argumentError("registry", registry, "a Registry of prom-client");
    let reading: ReturnType<typeof collectFrom> | undefined;
    const readOnce = () => {
      reading ??= collectFrom(sources).finally(() => {
        reading = undefined;
      });
      return reading;
    };
    const names = metricsOf(sources).map((info: MetricInfo) => {
      const { prometheus, help, type } = info;
      const name = `${prefix}_${prometheus}`;
      const about = { name, help, type, aggregator: aggregatorOf(info) };
      const valuesOf = (sample: Sample) =>
        numbersOf(sample).map(({ part, labels: own, value }) => ({
          value,
          labels: { ...labels, ...own },
          ...(part && { metricName: `${name}${part}` }),
        }));
      const get = async () => {
        const all = await readOnce();
        return { ...about, values: (all.get(prometheus) ?? []).flatMap(valuesOf) };
      };
      registry.registerMetric({ ...about, get, reset() {} });
      return name;
    });
    return () => {
      for (const name of names) registry.removeSingleMetric(name);
    };
  });
}

interface Part {
  /** The end of its name. */
  part: string;
  labels: Record<string, string>;
  value: number;
}

/** The parts of a histogram are metrics with names of their own. A bucket counts all values up to its boundary. */
function numbersOf({ value, labels, histogram }: Sample): Part[] {
  if (!histogram) return [{ part: "", labels, value }];
  let count = 0;
  const buckets = Array.from(histogram.counts, (each, i): Part => {
    count += each;
    return { part: "_bucket", labels: { ...labels, le: `${histogram.boundaries[i] ?? "+Inf"}` }, value: count };
  });
  return [...buckets, { part: "_sum", labels, value: histogram.sum }, { part: "_count", labels, value: count }];
}

/** Go, in which Prometheus is written, has its own words for numbers that are not finite. */
function valueText(value: number): string {
  if (Number.isFinite(value)) return `${value}`;
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

function labelText(labels: Record<string, string>): string {
  const escaped = (text: string) => text.replace(/[\\"\n]/g, (each) => (each === "\n" ? "\\n" : `\\${each}`));
  if (Object.keys(labels).length === 0) return "";
  return `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(",")}}`;
}
