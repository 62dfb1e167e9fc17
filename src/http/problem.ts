import { argumentError } from "../base/errors.ts";
import { atSite } from "../base/site.ts";
import type { Decision } from "../limits/limiter/decision.ts";
import { checkDecision, isBlocked } from "./decision-check.ts";
import { sfText } from "./structured-field.ts";

/** A denial as a problem document (RFC 9457). */
export interface Problem {
  status: number;
  /** The media type of `body`. */
  contentType: string;
  body: string;
}

const TYPES = "https://iana.org/assignments/http-problem-types";

/**
 * Returns the response to a denied call. Throws ARGUMENT. Source: draft-ietf-httpapi-ratelimit-headers-11, section 5.
 *
 * - quota-exceeded, 429: some policies denied the call. Their names are spelt as in RateLimit-Policy.
 * - abnormal-usage-detected, 429: the id is blocked. Policies that deny too are still named.
 * - temporary-reduced-capacity, 503: the store is unreachable, and the limiter denies in that case.
 */
export function problemOf(decision: Decision): Problem {
  return atSite("problemOf", () => {
    checkDecision(decision);
    if (decision.allowed) throw argumentError("decision", "one that allows the call", "a denial");
    const violated = decision.policies.filter((policy) => !policy.shadow && !policy.allowed);
    const [status, type, title] =
      decision.degradedBy === "deny"
        ? [503, "temporary-reduced-capacity", "Temporary Reduced Capacity"]
        : isBlocked(decision)
          ? [429, "abnormal-usage-detected", "Abnormal Usage Detected"]
          : [429, "quota-exceeded", "Quota Exceeded"];
    const names = violated.map((policy) => sfText(policy.name));
    const body = JSON.stringify({ type: `${TYPES}#${type}`, title, status, "violated-policies": names });
    return { status, contentType: "application/problem+json", body };
  });
}
