import { argumentError } from "../../base/errors.ts";
import { settingsOf } from "../../base/options.ts";
import { atSite } from "../../base/site.ts";
import { collectFrom, type MetricsSources, metricsOf, sourcesOf } from "./collect.ts";
import type { HistogramCounts, PowerCounts, Sample } from "./metric.ts";
import { EXPORTER, type ExporterOptions } from "./options.ts";
import { ZERO_THRESHOLD } from "./powers.ts";
import { prometheusText } from "./prometheus.ts";

/** What to send to Prometheus. */
export interface PrometheusAnswer {
  contentType: string;
  body: string | Uint8Array;
}

/**
 * Answers a scrape in the format that its header field `Accept` prefers: Protocol Buffers, in which histograms are native
 * and classic ones, or the text of `prometheusText`. It rejects as that does.
 *
 * @example
 * const { contentType, body } = await prometheusAnswer(metrics, request.headers.accept);
 */
export async function prometheusAnswer(
  source: MetricsSources,
  accept: string | null | undefined,
  options: ExporterOptions = {},
): Promise<PrometheusAnswer> {
  const { prefix, labels, sources } = atSite("prometheusAnswer", () => {
    if (typeof (accept ?? "") !== "string") throw argumentError("accept", accept, "the text of a header field");
    return { ...settingsOf(EXPORTER, options), sources: sourcesOf(source) };
  });
  if (!prefersProtobuf(accept ?? ""))
    return { contentType: "text/plain; version=0.0.4; charset=utf-8", body: await prometheusText(sources, options) };
  const all = await collectFrom(sources);
  const body = new Message();
  for (const { prometheus, help, type } of metricsOf(sources)) {
    const samples = all.get(prometheus) ?? [];
    if (samples.length === 0) continue;
    const family = new Message().text(1, `${prefix}_${prometheus}`).text(2, help).whole(3, TYPES[type]);
    for (const sample of samples) family.message(4, metricOf(sample, labels, type));
    body.delimited(family);
  }
  return { contentType: `${PROTOBUF}; ${PARAMETERS.join("; ")}`, body: Uint8Array.from(body.bytes) };
}

const PROTOBUF = "application/vnd.google.protobuf";
const PARAMETERS = ["proto=io.prometheus.client.MetricFamily", "encoding=delimited"];

/** Without any range for text, that is not accepted. */
function prefersProtobuf(accept: string): boolean {
  let [protobuf, text] = [0, 0];
  for (const range of accept.split(",")) {
    const [type = "", ...parameters] = range.split(";").map((each) => each.trim());
    const quality = Number(parameters.find((each) => each.startsWith("q="))?.slice(2) ?? 1);
    if (type === PROTOBUF && PARAMETERS.every((each) => parameters.includes(each)))
      protobuf = Math.max(protobuf, quality);
    if (/^(text|\*)\/(plain|\*)$/.test(type)) text = Math.max(text, quality);
  }
  return protobuf > 0 && protobuf >= text;
}

// The messages of io.prometheus.client, with the numbers of their fields.

const TYPES = { counter: 0, gauge: 1, histogram: 4 };
const VALUES = { counter: 3, gauge: 2, histogram: 7 };

function metricOf(sample: Sample, labels: Readonly<Record<string, string>>, type: keyof typeof VALUES): Message {
  const metric = new Message();
  for (const [name, value] of Object.entries({ ...labels, ...sample.labels }))
    metric.message(1, new Message().text(1, name).text(2, value));
  const { histogram, value } = sample;
  return metric.message(VALUES[type], histogram ? histogramOf(histogram) : new Message().double(1, value));
}

function histogramOf({ boundaries, counts, sum, powers }: HistogramCounts): Message {
  const message = new Message();
  let count = 0;
  for (const [i, each] of Array.from(counts).entries()) {
    count += each;
    const boundary = boundaries[i] ?? Number.POSITIVE_INFINITY;
    message.message(3, new Message().whole(1, count).double(2, boundary));
  }
  message.whole(1, count).double(2, sum);
  message.signed(5, powers.schema).double(6, ZERO_THRESHOLD).whole(7, powers.zeros);
  spans(message, 9, powers.negative);
  spans(message, 12, powers.positive);
  return message;
}

/** Runs of indexes, each with its distance from the one before, and the difference of each count to the one before. */
function spans(message: Message, field: number, side: PowerCounts["positive"]): void {
  const rising = [...side].sort(([a], [b]) => a - b);
  let [before, end] = [0, 0];
  const deltas = new Message();
  for (let i = 0; i < rising.length; ) {
    const first = rising[i]![0];
    let length = 0;
    for (; rising[i]?.[0] === first + length; i++, length++) {
      const count = rising[i]![1];
      deltas.varint(zigzag(count - before));
      before = count;
    }
    message.message(field, new Message().signed(1, first - end).whole(2, length));
    end = first + length;
  }
  message.message(field + 1, deltas);
}

/** Signed numbers, of which those near 0 are short. */
function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

/** The encoding of Protocol Buffers, as far as it is needed. Each method but `varint` adds a field. */
class Message {
  readonly bytes: number[] = [];

  /** Numbers have up to 53 bits, and operators on bits take 32. */
  varint(value: number): this {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.bytes.push((rest % 128) + 128);
    this.bytes.push(rest);
    return this;
  }

  whole(field: number, value: number): this {
    return this.varint(8 * field).varint(value);
  }

  signed(field: number, value: number): this {
    return this.whole(field, zigzag(value));
  }

  double(field: number, value: number): this {
    // All supported machines are little-endian, as this encoding is.
    return this.varint(8 * field + 1).#append(new Uint8Array(Float64Array.of(value).buffer));
  }

  text(field: number, value: string): this {
    const bytes = new TextEncoder().encode(value);
    return this.varint(8 * field + 2)
      .varint(bytes.length)
      .#append(bytes);
  }

  message(field: number, message: Message): this {
    return this.varint(8 * field + 2).delimited(message);
  }

  delimited({ bytes }: Message): this {
    return this.varint(bytes.length).#append(bytes);
  }

  #append(bytes: ArrayLike<number>): this {
    for (let i = 0; i < bytes.length; i++) this.bytes.push(bytes[i]!);
    return this;
  }
}
