import { readFileSync } from "node:fs";

export interface DocumentedMetric {
  name: string;
  type: string;
  labels: string[];
  help: string;
  unit: string;
}

/** The metrics in the table of docs/monitoring.md. */
export function documented(): DocumentedMetric[] {
  const text = readFileSync(new URL("../../docs/monitoring.md", import.meta.url), "utf8");
  const rows = text.matchAll(/^\| `([a-z_]+)` \| (counter|gauge|histogram) \| (.*?) \| (.+) \| (\S+) \|$/gm);
  return [...rows].map(([, name, type, labels, help, unit]) => ({
    name: name!,
    type: type!,
    labels: labels!.match(/\w+/g) ?? [],
    help: help!,
    unit: unit!,
  }));
}
