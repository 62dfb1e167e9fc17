/**
 * Entry `oriel/telemetry`: metrics and spans for OpenTelemetry, and native histograms for Prometheus. Imports no package and
 * no kernel.
 *
 * @module oriel/telemetry
 */

export type { MetricsSources } from "../operate/exporters/collect.ts";
export type { HistogramCounts, MetricInfo, MetricsSource, PowerCounts, Sample } from "../operate/exporters/metric.ts";
export type { ExporterOptions } from "../operate/exporters/options.ts";
export {
  type OtelCollectionResult,
  type OtelExponentialHistogram,
  type OtelHistogram,
  type OtelMetric,
  type OtelMetricProducer,
  type OtelPoint,
  otelMetrics,
} from "../operate/exporters/otel-metrics.ts";
export { type OtelSpan, type OtelTracer, otelSpans } from "../operate/exporters/otel-spans.ts";
export { type PrometheusAnswer, prometheusAnswer } from "../operate/exporters/prometheus-answer.ts";
