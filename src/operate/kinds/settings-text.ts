import { asTyped } from "../format.ts";

const DURATIONS = /^(retention|span|lease|interval|flush|cooldown|slowCall|every|dedupeFor|.*Ms)$/;

/** Whether the setting of this name is a duration in ms. */
export function isDuration(name: string): boolean {
  return DURATIONS.test(name);
}

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
  if (typeof value === "number" && isDuration(name)) return asTyped(value);
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
  const { name, kindName, limit, spanMs, isShadow } = Object(policy) as Record<string, unknown>;
  const span = typeof spanMs === "number" ? asTyped(spanMs) : textOf(spanMs ?? "?");
  const label = name === kindName ? `${kindName}` : `${name}: ${kindName}`;
  const rate = burstRateOf(policy);
  const per = kindName === "concurrency" ? ` at once, lease ${span}` : `/${span}`;
  const quota = rate === undefined ? `${limit}${per}` : `${rate}/${span}, ${limit} at once`;
  return `${label} ${quota}${isShadow === true ? " shadow" : ""}`;
}

/** The permits per span of a gcra whose limit is a burst. Undefined for policies that grant their limit per span. */
export function burstRateOf(policy: unknown): number | undefined {
  const { kindName, limit, rate } = Object(policy) as Record<string, unknown>;
  return kindName === "gcra" && limit !== 0 && typeof rate === "number" && rate !== limit ? rate : undefined;
}
