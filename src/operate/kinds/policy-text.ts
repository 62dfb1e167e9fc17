import { asTyped, whole } from "../format.ts";

/** A policy as a limiter announces it. It is foreign: a process of another version may leave something out. */
interface AnnouncedPolicy {
  readonly name?: unknown;
  readonly kindName?: unknown;
  readonly limit?: unknown;
  readonly spanMs?: unknown;
  /** Of gcra: the permits per span. Its `limit` is the burst. */
  readonly rate?: unknown;
  readonly isShadow?: unknown;
}

const UNITS = new Map([
  [1000, "a second"],
  [60_000, "a minute"],
  [3_600_000, "an hour"],
  [86_400_000, "a day"],
]);

/** The quota of a policy: "100 a minute", "10 a second, burst 20", "6 at once, lease 30s". */
export function quotaText(policy: unknown): string {
  const { kindName, limit, spanMs, rate } = Object(policy) as AnnouncedPolicy;
  if (typeof limit !== "number") return "";
  const span = typeof spanMs === "number" && spanMs > 0 ? spanMs : undefined;
  if (kindName === "concurrency")
    return `${whole(limit)} at once${span === undefined ? "" : `, lease ${asTyped(span)}`}`;
  const hasBurst = kindName === "gcra" && limit > 0 && typeof rate === "number";
  const per = span === undefined ? "" : ` ${UNITS.get(span) ?? `per ${asTyped(span)}`}`;
  return `${whole(hasBurst ? rate : limit)}${per}${hasBurst ? `, burst ${whole(limit)}` : ""}`;
}

/** A policy in one line: "sliding-window 100 a minute", "per-user: gcra 10 a second, burst 20, shadow". */
export function policyText(policy: unknown): string {
  const { name, kindName, isShadow } = Object(policy) as AnnouncedPolicy;
  const label = name === undefined || name === kindName ? "" : `${name}: `;
  const quota = quotaText(policy);
  return `${label}${kindName ?? "?"}${quota === "" ? "" : ` ${quota}`}${isShadow === true ? ", shadow" : ""}`;
}
