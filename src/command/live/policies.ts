import { argumentError, OrielError } from "../../base/errors.ts";
import {
  concurrency,
  type Duration,
  fixedWindow,
  gcra,
  leakyBucket,
  type Policy,
  slidingWindow,
} from "../../entries/index.ts";
import type { Found } from "./find.ts";

type Given = Record<string, unknown>;

/** Makes a policy of each kind from the options of its function. They check the values. */
const MAKERS: Record<string, (options: Given) => Policy> = {
  "fixed-window": (options) => fixedWindow(options as never),
  "sliding-window": (options) => slidingWindow(options as never),
  "leaky-bucket": (options) => leakyBucket(options as never),
  gcra: (options) => gcra(options as never),
  concurrency: (options) => concurrency(options as never),
};

const EXAMPLE = `--policies '[{"kind":"sliding-window","limit":100,"span":"1m"}]'`;

/** The policies of a limiter: those typed, else those of the registry. Throws ARGUMENT. */
export function policiesOf({ name, structure, advice }: Found, typed: string | undefined): Policy[] {
  if (typed !== undefined) return listOf(typed).map(typedPolicy);
  const shown = JSON.stringify(name);
  if (!structure)
    throw new OrielError("ARGUMENT", `the registry lists no Limiter ${shown}${advice}; pass its policies: ${EXAMPLE}`);
  const { policies } = structure.settings;
  if (!Array.isArray(policies))
    throw new OrielError(
      "ARGUMENT",
      `the policies of Limiter ${shown} depend on the id, by a function that only its processes have; pass those of this id: ${EXAMPLE}`,
    );
  return policies.map(listedPolicy);
}

function listOf(typed: string): Given[] {
  let list: unknown;
  try {
    list = JSON.parse(typed);
  } catch {
    throw argumentError("--policies", typed, `a JSON array, like ${EXAMPLE}`);
  }
  if (!Array.isArray(list) || list.length === 0 || list.some((each) => typeof each !== "object" || each === null))
    throw argumentError("--policies", typed, `a JSON array of objects, like ${EXAMPLE}`);
  return list;
}

function typedPolicy({ kind, ...options }: Given): Policy {
  const make = typeof kind === "string" && Object.hasOwn(MAKERS, kind) ? MAKERS[kind] : undefined;
  if (!make) throw argumentError("kind in --policies", kind, `one of ${Object.keys(MAKERS).join(", ")}`);
  return make(options);
}

/** A policy from the registry's JSON. It is made anew, because that JSON is foreign. */
function listedPolicy(listed: unknown): Policy {
  const { name, kindName, limit, spanMs, rate, isAligned, isShadow } = Object(listed) as Given;
  const common = { name, shadow: isShadow };
  const span = spanMs as Duration;
  if (kindName === "fixed-window") return typedPolicy({ kind: kindName, ...common, limit, span, aligned: isAligned });
  if (kindName === "leaky-bucket") return typedPolicy({ kind: kindName, ...common, capacity: limit, span });
  // A gcra's `limit` is its burst, and its `rate` the permits per span.
  if (kindName === "gcra") return typedPolicy({ kind: kindName, ...common, limit: rate, burst: limit, span });
  if (kindName === "concurrency") return typedPolicy({ kind: kindName, ...common, limit, lease: span });
  return typedPolicy({ kind: kindName, ...common, limit, span });
}
