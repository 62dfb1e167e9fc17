import type { Colors } from "picocolors/types";
import stringWidth from "string-width";
import { healthFacts, type Level } from "../../../operate/doctor/health/health-facts.ts";
import type { StoreHealth } from "../../../operate/doctor/health/store-health.ts";
import { safeText } from "../../text/safe-text.ts";
import { cut } from "../columns.ts";

interface Part {
  text: string;
  level: Level;
}

const GAP = " · ";

/** The health of the store in one line. In a narrow terminal the good facts are left out first, the last ones before the others. */
export function healthLine(health: StoreHealth, width: number, colors: Colors): string {
  let parts = partsOf(health);
  const widthOf = () => stringWidth(parts.map(({ text }) => text).join(GAP));
  while (widthOf() > width) {
    const least = parts.findLastIndex(({ level }, i) => i > 0 && level === "good");
    if (least < 0) break;
    parts = parts.filter((_, i) => i !== least);
  }
  const paint = { good: (text: string) => text, warn: colors.yellow, bad: colors.red };
  if (widthOf() > width) {
    const { level } = parts[0]!;
    return paint[level === "good" ? "warn" : level](cut(parts.map(({ text }) => text).join(GAP), width));
  }
  return parts.map(({ text, level }) => paint[level](text)).join(colors.dim(GAP));
}

function partsOf(health: StoreHealth): Part[] {
  const { state, reason, address, nodes } = health;
  const [reachability, ...others] = healthFacts(health);
  const primaries = nodes.length > 1 ? ` (${nodes.length} primaries)` : "";
  const why = state === "up" ? "" : `: ${reason ?? "no reason known"}`;
  const server = `${safeText(nodes[0]?.server ?? "store", 60)}${primaries} ${state}${why}`;
  return [
    { text: safeText(server, 200), level: reachability!.level },
    ...others.map(({ label, text, level }) => ({ text: safeText(`${label.toLowerCase()} ${text}`, 100), level })),
    { text: safeText(address ?? "the store", 100), level: "good" },
  ];
}
