import { asTyped } from "../format.ts";
import { policyText } from "./policy-text.ts";

const DURATIONS = /^(retention|span|lease|interval|flush|cooldown|slowCall|every|dedupeFor|first|longest|.*Ms)$/;

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
  return typeof value === "object" ? `(${settingsText(value as Record<string, unknown>)})` : textOf(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** For example "sliding-window 100 a minute; burst: gcra 5 a second, burst 10". */
function policiesText(policies: unknown): string {
  return Array.isArray(policies) ? policies.map(policyText).join("; ") : `policies ${textOf(policies)}`;
}
