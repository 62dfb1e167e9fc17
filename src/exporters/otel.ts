import { argumentError } from "../errors.ts";
import { placed } from "../place.ts";
import { collectFrom, type MetricsSources, metricsOf, sourcesOf } from "./collect.ts";
import { type ExporterOptions, exporterSettings } from "./options.ts";

/** What is used of a Meter of @opentelemetry/api 1. */
export interface OtelMeter<Instrument = unknown> {
  createObservableGauge(name: string, options: { description: string; unit: string }): Instrument;
  createObservableCounter(name: string, options: { description: string; unit: string }): Instrument;
  // biome-ignore lint/suspicious/noExplicitAny: generic over the attributes there.
  addBatchObservableCallback(callback: (result: any) => void | Promise<void>, instruments: any[]): void;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  removeBatchObservableCallback(callback: any, instruments: any[]): void;
}

interface Observer {
  observe(instrument: unknown, value: number, attributes: Record<string, string>): void;
}

/**
 * Has a meter of OpenTelemetry read the numbers whenever it collects, once for all metrics; returns what ends that. Names are
 * `oriel.window...`, units by UCUM. Throws ARGUMENT. A source that cannot be read is left out, and counted in
 * `exporter.failed_sources`; where all cannot, the collection is told so.
 */
export function observeOtel(meter: OtelMeter, source: MetricsSources, options: ExporterOptions = {}): () => void {
  return placed("observeOtel", () => {
    const { prefix, labels } = exporterSettings(options);
    const sources = sourcesOf(source);
    if (
      typeof meter?.createObservableGauge !== "function" ||
      typeof meter.createObservableCounter !== "function" ||
      typeof meter.addBatchObservableCallback !== "function"
    )
      throw argumentError("meter", meter, "a Meter of @opentelemetry/api");
    const metrics = metricsOf(sources);
    const instruments = metrics.map(({ otel, type, unit, help }) => {
      const about = { description: help, unit };
      const name = `${prefix}.${otel}`;
      return type === "counter" ? meter.createObservableCounter(name, about) : meter.createObservableGauge(name, about);
    });
    const observe = async (result: Observer) => {
      const all = await collectFrom(sources);
      for (const [i, { prometheus }] of metrics.entries())
        for (const { value, labels: own } of all.get(prometheus) ?? [])
          result.observe(instruments[i], value, { ...labels, ...own });
    };
    meter.addBatchObservableCallback(observe, instruments);
    return () => meter.removeBatchObservableCallback(observe, instruments);
  });
}
