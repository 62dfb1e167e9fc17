import type { StructureEntry } from "../../protocol.ts";
import { h } from "../dom.ts";
import { duration, number, when } from "../format.ts";
import type { PanelMaker } from "./panel.ts";

/** A structure of which the dashboard knows only what its processes announce. */
export const settingsPanel: PanelMaker = (structure) => ({
  element: h("div", {}, settingsSection(structure)),
  update() {},
  close() {},
});

/** The arguments of the constructor, and the announcement that brought them. */
export function settingsSection({ settings, version, processes, seenMs, conflict }: StructureEntry): HTMLElement {
  const rows: [string, string][] = [
    ...Object.entries(settings).map(([name, value]): [string, string] => settingOf(name, value)),
    ["processes", String(processes)],
    ["announced", `${when(seenMs)}, by oriel ${version}`],
  ];
  return h(
    "section",
    { class: "card", "aria-labelledby": "settings-title" },
    h("h2", { id: "settings-title" }, "Settings"),
    conflict &&
      h(
        "p",
        { class: "notice warn" },
        `Process ${conflict.process} has other settings: ${JSON.stringify(conflict.settings)}. All processes must use the same.`,
      ),
    h("dl", { class: "pairs" }, ...rows.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)])),
  );
}

/** Settings that are durations in ms. */
const DURATIONS = /^(retention|span|lease|interval|flush|cooldown|slowCall|every|dedupeFor|openFor|.*Ms)$/;

function settingOf(name: string, value: unknown): [string, string] {
  if (typeof value === "number" && DURATIONS.test(name)) return [name.replace(/Ms$/, ""), duration(value)];
  if (typeof value === "number") return [name, number(value)];
  return [name, typeof value === "string" ? value : JSON.stringify(value)];
}
