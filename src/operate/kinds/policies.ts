import { argumentError, OrielError } from "../../base/errors.ts";
import { calendarWindow } from "../../limits/limiter/calendar-window.ts";
import {
  concurrency,
  fixedWindow,
  gcra,
  leakyBucket,
  type Policy,
  slidingWindow,
} from "../../limits/limiter/policies.ts";

type Given = Record<string, unknown>;

/** Makes a policy of each kind from the options of its function. They check the values. */
const MAKERS: Record<string, (options: Given) => Policy> = {
  "fixed-window": (options) => fixedWindow(options as never),
  "sliding-window": (options) => slidingWindow(options as never),
  "leaky-bucket": (options) => leakyBucket(options as never),
  gcra: (options) => gcra(options as never),
  concurrency: (options) => concurrency(options as never),
  "calendar-window": (options) => calendarWindow(options as never),
};

/** A policy as an operator types it, with the options of its function. Throws ARGUMENT. */
export function typedPolicy({ kind, ...options }: Given): Policy {
  const make = typeof kind === "string" && Object.hasOwn(MAKERS, kind) ? MAKERS[kind] : undefined;
  if (!make) throw argumentError("kind in --policies", kind, `one of ${Object.keys(MAKERS).join(", ")}`);
  return make(options);
}

/** The policies that a limiter's processes have announced. They are made anew, because the registry's JSON is foreign. */
export function announcedPolicies(announced: unknown): Policy[] {
  if (!Array.isArray(announced) || announced.length === 0)
    throw new OrielError(
      "ARGUMENT",
      "the policies of this limiter depend on the id, so it can only be reset by a program",
    );
  return announced.map((each) => {
    const { name, kindName: kind, limit, spanMs: span, rate, isAligned, isShadow, calendar } = Object(each) as Given;
    const both = { kind, name, shadow: isShadow };
    if (kind === "concurrency") return typedPolicy({ ...both, limit, lease: span });
    // A gcra's `limit` is its burst, and its `rate` the permits per span.
    if (kind === "gcra") return typedPolicy({ ...both, limit: rate, burst: limit, span });
    if (kind === "leaky-bucket") return typedPolicy({ ...both, capacity: limit, span });
    if (kind === "fixed-window") return typedPolicy({ ...both, limit, span, aligned: isAligned });
    if (kind === "calendar-window") return typedPolicy({ ...both, limit, ...Object(calendar) });
    if (kind === "sliding-window") return typedPolicy({ ...both, limit, span });
    throw new OrielError("ARGUMENT", `this version of oriel does not know the policy ${JSON.stringify(kind)}`);
  });
}
