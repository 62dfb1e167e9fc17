import type { Decision } from "../limiter/decision.ts";
import { placed } from "../place.ts";
import { checkDecision } from "./decision-check.ts";
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
 * The response to a denied call, after section 5 of draft-ietf-httpapi-ratelimit-headers-11: quota-exceeded, 429, with
 * the names of the policies that refused (as RateLimit-Policy spells them); abnormal-usage-detected, 429, where no
 * policy refused because the id is blocked; temporary-reduced-capacity, 503, where the store could not be asked and
 * the limiter denies then, which is no fault of the client's.
 */
export function problemOf(decision: Decision): Problem {
  return placed("problemOf", () => {
    checkDecision(decision);
    const violated = decision.policies.filter((policy) => !policy.shadow && !policy.allowed);
    const [status, type, title] =
      decision.degradedBy === "deny"
        ? [503, "temporary-reduced-capacity", "Temporary Reduced Capacity"]
        : violated.length === 0
          ? [429, "abnormal-usage-detected", "Abnormal Usage Detected"]
          : [429, "quota-exceeded", "Quota Exceeded"];
    const names = violated.map((policy) => sfText(policy.name));
    const body = JSON.stringify({ type: `${TYPES}#${type}`, title, status, "violated-policies": names });
    return { status, contentType: "application/problem+json", body };
  });
}
