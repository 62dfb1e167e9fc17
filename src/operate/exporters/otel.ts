import { argumentError } from "../../base/errors.ts";
import { settingsOf } from "../../base/options.ts";
import { atSite } from "../../base/site.ts";
import { collectFrom, type MetricsSources, metricsOf, sourcesOf } from "./collect.ts";
import type { Sample } from "./metric.ts";
import { EXPORTER, type ExporterOptions } from "./options.ts";

/** The members of a Meter of @opentelemetry/api 1 that are used here. */
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
 * Registers the metrics with an OpenTelemetry meter, which reads all of them once per collection. Returns a function
 * that unregisters them. Names are `oriel.window...`, units are UCUM. Throws ARGUMENT. A source that cannot be read is
 * left out and counted in `exporter.failed_sources`. If all sources fail, the collection fails. OpenTelemetry has no
 * histogram that is read: its counts are the counters NAME.bucket (attribute `le`), NAME.sum and NAME.count.
 */
export function observeOtel(meter: OtelMeter, source: MetricsSources, options: ExporterOptions = {}): () => void {
  return atSite("observeOtel", () => {
    const { prefix, labels } = settingsOf(EXPORTER, options);
    const sources = sourcesOf(source);
    if (
      typeof meter?.createObservableGauge !== "function" ||
      typeof meter.createObservableCounter !== "function" ||
      typeof meter.addBatchObservableCallback !== "function"
    )
      throw argumentError("meter", meter, "a Meter of @opentelemetry/api");
    const metrics = metricsOf(sources);
    const instrumentsOf = metrics.map(({ otel, type, unit, help }) => {
      const name = `${prefix}.${otel}`;
      const about = { description: help, unit };
      if (type === "gauge") return new Map([[undefined, meter.createObservableGauge(name, about)]]);
      if (type === "counter") return new Map([[undefined, meter.createObservableCounter(name, about)]]);
      const partOf = (part: Sample["part"], partUnit: string) =>
        [part, meter.createObservableCounter(`${name}.${part}`, { description: help, unit: partUnit })] as const;
      return new Map([partOf("bucket", "1"), partOf("sum", unit), partOf("count", "1")]);
    });
    const instruments = instrumentsOf.flatMap((each: ReadonlyMap<Sample["part"], unknown>) => [...each.values()]);
    const observe = async (result: Observer) => {
      const all = await collectFrom(sources);
      for (const [i, { prometheus }] of metrics.entries())
        for (const { value, labels: own, part } of all.get(prometheus) ?? [])
          result.observe(instrumentsOf[i]!.get(part), value, { ...labels, ...own });
    };
    meter.addBatchObservableCallback(observe, instruments);
    return () => meter.removeBatchObservableCallback(observe, instruments);
  });
}
