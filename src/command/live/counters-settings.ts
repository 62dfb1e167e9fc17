import { OrielError } from "../../base/errors.ts";
import type { BucketName, CountersOptions } from "../../entries/index.ts";
import type { Found } from "./find.ts";
import { setting } from "./views/view.ts";

/** The options of a counter in the registry. Throws ARGUMENT if it is not listed. */
export function listedCounters(found: Found): CountersOptions {
  const { name, structure, advice } = found;
  if (!structure)
    throw new OrielError(
      "ARGUMENT",
      `the registry lists no Counters ${JSON.stringify(name)}, and the command needs their settings${advice}`,
    );
  return {
    dimensions: setting<string[]>(found, "dimensions") ?? [],
    addedDimensions: setting<string[]>(found, "addedDimensions"),
    buckets: setting<BucketName[]>(found, "buckets"),
    timeZone: setting(found, "timeZone"),
    shards: setting(found, "shards"),
  };
}
