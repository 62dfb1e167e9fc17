import { GAUGES, type Sample } from "./gauges.ts";
import { type ExporterOptions, exporterSettings } from "./options.ts";
import { type MetricsSource, type NamedNumbers, readSource } from "./source.ts";

/** What is used of a Registry of prom-client 14 or 15. */
export interface PrometheusRegistry {
  // biome-ignore lint/suspicious/noExplicitAny: prom-client's own type is a class with private fields.
  registerMetric(metric: any): void;
  removeSingleMetric(name: string): void;
}

/**
 * All numbers in Prometheus' text format 0.0.4 (`text/plain; version=0.0.4`), gauges. Rejects with ARGUMENT, or with what the
 * source's store rejects with. Source: prometheus.io, "Exposition formats".
 */
export async function prometheusText(source: MetricsSource, options: ExporterOptions = {}): Promise<string> {
  const { prefix, percentiles, labels } = exporterSettings(options);
  const all = await readSource(source, percentiles);
  const lines: string[] = [];
  for (const gauge of GAUGES) {
    const samples = all.flatMap((numbers) => gauge.samplesOf(numbers, percentiles));
    if (samples.length === 0) continue;
    const name = `${prefix}_${gauge.prometheus}`;
    lines.push(`# HELP ${name} ${gauge.help}`, `# TYPE ${name} gauge`);
    for (const { value, labels: own } of samples) lines.push(`${name}${labelText({ ...labels, ...own })} ${value}`);
  }
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

/**
 * Has a registry of prom-client read the numbers whenever it is scraped, once for all gauges; returns what ends that.
 * Throws ARGUMENT; a scrape rejects with what the source's store rejects with.
 */
export function registerPrometheus(
  registry: PrometheusRegistry,
  source: MetricsSource,
  options: ExporterOptions = {},
): () => void {
  const { prefix, percentiles, labels } = exporterSettings(options);
  let reading: Promise<NamedNumbers[]> | undefined;
  const readOnce = () => {
    reading ??= readSource(source, percentiles).finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const names = GAUGES.map((gauge) => {
    const name = `${prefix}_${gauge.prometheus}`;
    const about = { name, help: gauge.help, type: "gauge", aggregator: "average" };
    const valuesOf = ({ value, labels: own }: Sample) => ({ value, labels: { ...labels, ...own } });
    const get = async () => {
      const all = await readOnce();
      return { ...about, values: all.flatMap((numbers) => gauge.samplesOf(numbers, percentiles)).map(valuesOf) };
    };
    registry.registerMetric({ ...about, get, reset() {} });
    return name;
  });
  return () => {
    for (const name of names) registry.removeSingleMetric(name);
  };
}

function labelText(labels: Record<string, string>): string {
  const escaped = (text: string) => text.replace(/[\\"\n]/g, (each) => (each === "\n" ? "\\n" : `\\${each}`));
  return `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(",")}}`;
}
