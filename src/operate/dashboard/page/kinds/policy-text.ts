import { duration, whole } from "../../../format.ts";

/** A policy as a limiter announces it. A process of another version may leave something out. */
export interface AnnouncedPolicy {
  name?: string;
  kindName?: string;
  limit?: number;
  spanMs?: number;
  /** Of gcra: the permits per span. Its `limit` is the burst. */
  rate?: number;
}

/** What follows the policy's name: " gcra: 10 permits per 1 s, 20 at once". */
export function policyText({ kindName = "", limit, spanMs, rate }: AnnouncedPolicy): string {
  const hasBurst = kindName === "gcra" && rate !== undefined && limit !== undefined && limit > 0 && rate !== limit;
  const permits = hasBurst ? rate : limit;
  const word = kindName === "concurrency" ? " lent at once, for at most" : " per";
  const per = spanMs === undefined || spanMs === 0 ? "" : `${word} ${duration(spanMs)}`;
  const quota = permits === undefined ? "" : `: ${whole(permits)} permits`;
  return ` ${kindName}${quota}${per}${hasBurst ? `, ${whole(limit)} at once` : ""}`;
}
