import { argumentError } from "../../base/errors.ts";
import { type Schema, text } from "../../base/options.ts";
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

export const EXPORTER = {
  prefix: [text, "oriel", 'letters, digits and "_", no digit first', NAME],
  labels: [labelsOf, {}],
} as const satisfies Schema<ExporterOptions>;

function labelsOf(argument: string, labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (labels === null || typeof labels !== "object") throw argumentError(argument, labels, "an object of strings");
  for (const [name, value] of Object.entries(labels)) {
    if (!NAME.test(name) || name.startsWith("__") || OWN_LABELS.includes(name))
      throw argumentError(argument, name, `a label's name that is none of ${OWN_LABELS.join(", ")}`);
    text(`${argument}.${name}`, value);
  }
  return labels;
}

export const DEFAULT_PERCENTILES: readonly number[] = [50, 90, 99];
export const PERCENTILES = [
  (_: string, percentiles: readonly number[]) => checkPercentiles(percentiles),
  DEFAULT_PERCENTILES,
] as const;

/** Throws ARGUMENT. */
export function checkPercentiles(percentiles: unknown): readonly number[] {
  const isOne = (each: unknown) => typeof each === "number" && each >= 0 && each <= 100;
  if (!Array.isArray(percentiles) || !percentiles.every(isOne))
    throw argumentError("percentiles", percentiles, "an array of numbers from 0 to 100");
  warnOfFractions(percentiles);
  return percentiles;
}
