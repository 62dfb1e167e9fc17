import { argumentError, checkKnown } from "../errors.ts";

export interface ExporterOptions {
  /** Begins every name; default "oriel". Letters, digits and "_", no digit first. */
  prefix?: string;
  /** Percentiles of response times, 0 to 100 each; default none. The source must keep them (its option `percentiles`). */
  percentiles?: readonly number[];
  /** Added to every sample, e.g. `{ service: "shop" }`. */
  labels?: Readonly<Record<string, string>>;
}

const NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const OWN_LABELS = ["name", "outcome", "quantile"];

/** Throws ARGUMENT. */
export function exporterSettings(options: ExporterOptions): Required<ExporterOptions> {
  checkKnown(options, ["prefix", "percentiles", "labels"]);
  const { prefix = "oriel", percentiles = [], labels = {} } = options;
  if (typeof prefix !== "string" || !NAME.test(prefix))
    throw argumentError("prefix", prefix, 'letters, digits and "_", no digit first');
  if (
    !Array.isArray(percentiles) ||
    percentiles.some((each) => typeof each !== "number" || !(each >= 0 && each <= 100))
  )
    throw argumentError("percentiles", percentiles, "an array of numbers from 0 to 100");
  for (const [name, value] of Object.entries(labels)) {
    if (!NAME.test(name) || name.startsWith("__") || OWN_LABELS.includes(name))
      throw argumentError("labels", name, `a label's name that is none of ${OWN_LABELS.join(", ")}`);
    if (typeof value !== "string") throw argumentError(`labels.${name}`, value, "a string");
  }
  return { prefix, percentiles, labels };
}
