import { durationText } from "./durations.ts";

const DURATIONS = new Set([
  ...["retention", "span", "cooldown", "lease", "slowCall", "interval", "intervalMs", "dedupeFor", "every", "flush"],
]);

/** The settings of a structure in one line: "retention 1h, values float32". Zeros and empty lists are left out. */
export function settingsText(settings: Readonly<Record<string, unknown>>): string {
  return Object.entries(settings)
    .flatMap(([name, value]) => {
      const text = name === "policies" ? policiesText(value) : valueText(name, value);
      if (text === "") return [];
      return name === "policies" ? text : `${name} ${text}`;
    })
    .join(", ");
}

function valueText(name: string, value: unknown): string {
  if (value === 0 || value === false || value === null || value === undefined) return "";
  if (typeof value === "number" && DURATIONS.has(name)) return durationText(value);
  if (Array.isArray(value)) return value.map((each) => textOf(each)).join(" ");
  return textOf(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** For example "sliding-window 100/1m, burst: gcra 5/1s shadow". */
function policiesText(policies: unknown): string {
  if (!Array.isArray(policies)) return `policies ${textOf(policies)}`;
  return policies.map(policyText).join(", ");
}

function policyText(policy: unknown): string {
  const { name, kindName, limit, spanMs, rate, isShadow } = Object(policy) as Record<string, unknown>;
  const span = typeof spanMs === "number" ? durationText(spanMs) : textOf(spanMs ?? "?");
  const label = name === kindName ? `${kindName}` : `${name}: ${kindName}`;
  const quota = kindName === "gcra" && rate !== limit ? `${rate}/${span}, ${limit} at once` : `${limit}/${span}`;
  return `${label} ${quota}${isShadow === true ? " shadow" : ""}`;
}
