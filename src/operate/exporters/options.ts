import { argumentError, checkKnown } from "../../base/errors.ts";
import { warnOfFractions } from "../../base/percent.ts";

/** Options of an exporter: the prefix of names, and labels of every sample. */
export interface ExporterOptions {
  /** Prefix of every name. Letters, digits and "_", not starting with a digit. Default "oriel". */
  prefix?: string | undefined;
  /** Added to every sample, e.g. `{ service: "shop" }`. */
  labels?: Readonly<Record<string, string>> | undefined;
}

const NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const OWN_LABELS = ["name", "outcome", "percentile", "policy", "state", "event", "to", "fleet", "server", "le"];

/** Throws ARGUMENT. */
export function exporterSettings(options: ExporterOptions): Required<ExporterOptions> {
  checkKnown(options, ["prefix", "labels"]);
  const { prefix = "oriel", labels = {} } = options;
  if (typeof prefix !== "string" || !NAME.test(prefix))
    throw argumentError("prefix", prefix, 'letters, digits and "_", no digit first');
  if (labels === null || typeof labels !== "object") throw argumentError("labels", labels, "an object of strings");
  for (const [name, value] of Object.entries(labels)) {
    if (!NAME.test(name) || name.startsWith("__") || OWN_LABELS.includes(name))
      throw argumentError("labels", name, `a label's name that is none of ${OWN_LABELS.join(", ")}`);
    if (typeof value !== "string") throw argumentError(`labels.${name}`, value, "a string");
  }
  return { prefix, labels };
}

/** Throws ARGUMENT. */
export function checkPercentiles(percentiles: unknown): readonly number[] {
  const isOne = (each: unknown) => typeof each === "number" && each >= 0 && each <= 100;
  if (!Array.isArray(percentiles) || !percentiles.every(isOne))
    throw argumentError("percentiles", percentiles, "an array of numbers from 0 to 100");
  warnOfFractions(percentiles);
  return percentiles;
}
