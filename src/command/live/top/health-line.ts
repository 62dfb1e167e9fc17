import type { Colors } from "picocolors/types";
import stringWidth from "string-width";
import type { NodeHealth, StoreHealth } from "../../../operate/doctor/health/store-health.ts";
import { safeText } from "../../text/safe-text.ts";
import { cut } from "../columns.ts";
import { roughText } from "../durations.ts";

interface Part {
  text: string;
  /** "bad": calls fail. "warn": they are slow, or data may be lost. */
  level?: "warn" | "bad";
}

/** As `oriel doctor` judges. */
const SLOW_MS = 150;
const FAR_MS = 1000;
const NEARLY_FULL = 0.9;
/** The server's time has whole milliseconds. */
const IN_STEP_MS = 2;
const GAP = " · ";

/** The health of the store in one line. In a narrow terminal the good facts are left out first, the last ones before the others. */
export function healthLine(health: StoreHealth, width: number, colors: Colors): string {
  let parts = partsOf(health);
  const widthOf = () => stringWidth(parts.map(({ text }) => text).join(GAP));
  while (widthOf() > width) {
    const least = parts.findLastIndex(({ level }, i) => i > 0 && level === undefined);
    if (least < 0) break;
    parts = parts.filter((_, i) => i !== least);
  }
  const paint = { warn: colors.yellow, bad: colors.red };
  if (widthOf() > width) return paint[parts[0]?.level ?? "warn"](cut(parts.map(({ text }) => text).join(GAP), width));
  return parts.map(({ text, level }) => (level ? paint[level](text) : text)).join(colors.dim(GAP));
}

function partsOf({ state, reason, address, latencyMs, offsetMs, nodes }: StoreHealth): Part[] {
  const where = safeText(address ?? "the store", 100);
  const [node] = nodes;
  const primaries = nodes.length > 1 ? ` (${nodes.length} primaries)` : "";
  const server = safeText(node?.server ?? "store", 60) + primaries;
  const first: Part[] =
    state === "up"
      ? [{ text: `${server} up` }, ...latencyOf(latencyMs)]
      : [{ text: safeText(`${server} down: ${reason ?? "no reason known"}`, 200), level: "bad" }];
  return [...first, ...nodesOf(nodes), ...clockOf(offsetMs), { text: where }];
}

function latencyOf(latencyMs: number | null): Part[] {
  if (latencyMs === null) return [];
  return [{ text: `${latencyMs.toFixed(1)} ms`, ...(latencyMs > SLOW_MS && { level: "warn" }) }];
}

/** Of a cluster, the primary in the worst condition. */
function nodesOf(nodes: readonly NodeHealth[]): Part[] {
  const [node] = nodes;
  if (!node) return [];
  const worst = (of: (node: NodeHealth) => Part[]) =>
    nodes.map(of).find(([part]) => part?.level !== undefined) ?? of(node);
  return [...worst(memoryOf), ...worst(persistenceOf), ...worst(evictionOf)];
}

function memoryOf({ usedBytes, maxBytes }: NodeHealth): Part[] {
  if (usedBytes === null) return [];
  const isFull = maxBytes !== null && usedBytes > maxBytes * NEARLY_FULL;
  const limit = maxBytes === null ? "" : ` of ${megabytes(maxBytes)}`;
  return [{ text: `memory ${megabytes(usedBytes)}${limit} MB`, ...(isFull && { level: "warn" }) }];
}

function persistenceOf({ persistence }: NodeHealth): Part[] {
  if (persistence === null) return [];
  if (persistence === "append-only file") return [{ text: persistence }];
  const text = persistence.startsWith("append-only file") ? persistence : "no append-only file";
  return [{ text: safeText(text, 40), level: "warn" }];
}

function evictionOf({ eviction }: NodeHealth): Part[] {
  if (eviction === null) return [];
  if (eviction === "noeviction") return [{ text: "no eviction" }];
  return [{ text: `evicts keys (${safeText(eviction, 30)})`, level: "warn" }];
}

function clockOf(offsetMs: number | null): Part[] {
  if (offsetMs === null) return [];
  const size = Math.abs(offsetMs);
  if (size <= IN_STEP_MS) return [{ text: "clock in step" }];
  const text = `clock ${size < 1000 ? `${size} ms` : roughText(size)} ${offsetMs < 0 ? "behind" : "ahead"}`;
  return [{ text, ...(size > FAR_MS && { level: "warn" }) }];
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
