import { GAUGES } from "./gauges.ts";
import { type ExporterOptions, exporterSettings } from "./options.ts";
import { type MetricsSource, readSource } from "./source.ts";

/** What is used of a Meter of @opentelemetry/api 1. */
export interface OtelMeter<Instrument = unknown> {
  createObservableGauge(name: string, options: { description: string; unit: string }): Instrument;
  // biome-ignore lint/suspicious/noExplicitAny: generic over the attributes there.
  addBatchObservableCallback(callback: (result: any) => void | Promise<void>, instruments: any[]): void;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  removeBatchObservableCallback(callback: any, instruments: any[]): void;
}

interface Observer {
  observe(instrument: unknown, value: number, attributes: Record<string, string>): void;
}

/**
 * Has a meter of OpenTelemetry read the numbers whenever it collects, once for all gauges; returns what ends that. Names are
 * `oriel.window...`, units by UCUM. Throws ARGUMENT; a collection is told of what the source's store rejects with.
 */
export function observeOtel(meter: OtelMeter, source: MetricsSource, options: ExporterOptions = {}): () => void {
  const { prefix, percentiles, labels } = exporterSettings(options);
  const instruments = GAUGES.map(({ otel, unit, help }) =>
    meter.createObservableGauge(`${prefix}.${otel}`, { description: help, unit }),
  );
  const observe = async (result: Observer) => {
    for (const numbers of await readSource(source, percentiles))
      for (const [i, gauge] of GAUGES.entries())
        for (const { value, labels: own } of gauge.samplesOf(numbers, percentiles))
          result.observe(instruments[i], value, { ...labels, ...own });
  };
  meter.addBatchObservableCallback(observe, instruments);
  return () => meter.removeBatchObservableCallback(observe, instruments);
}
