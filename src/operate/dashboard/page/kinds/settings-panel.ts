import { duration, number, when } from "../../../format.ts";
import { isDuration } from "../../../kinds/settings-text.ts";
import type { StructureEntry } from "../../protocol.ts";
import { h } from "../dom.ts";
import { escaped } from "../parts/quoted.ts";
import type { PanelMaker } from "./panel.ts";

/** A structure of which the dashboard knows only what its processes announce. */
export const settingsPanel: PanelMaker = (structure) => ({
  element: h("div", {}, settingsSection(structure)),
  update() {},
  close() {},
});

/** The arguments of the constructor, and the announcement that brought them. */
export function settingsSection({ settings, version, processes, seenMs, conflict }: StructureEntry): HTMLElement {
  const rows: Setting[] = [
    ...Object.entries(settings).map(([name, value]) => settingOf(name, value)),
    ["processes", String(processes), ""],
    ["announced", `${when(seenMs)}, by oriel ${version}`, ""],
  ];
  return h(
    "section",
    { class: "card", "aria-labelledby": "settings-title" },
    h("h2", { id: "settings-title" }, "Settings"),
    conflict &&
      h(
        "p",
        { class: "notice warn" },
        `Process ${escaped(conflict.process)} has other settings: ${escaped(JSON.stringify(conflict.settings))}. All processes must use the same.`,
      ),
    h(
      "dl",
      { class: "pairs" },
      ...rows.flatMap(([words, text, name]) => [h("dt", { title: name }, words), h("dd", {}, text)]),
    ),
  );
}

/** The name in words, the value, and the name in the program. */
type Setting = readonly [words: string, text: string, name: string];

function settingOf(name: string, value: unknown): Setting {
  return [wordsOf(name), textOf(name, value), name];
}

/** "minimumCalls" as "minimum calls". The value has the unit of a duration, and the yes or no of an "is". */
function wordsOf(name: string): string {
  const words = name.replace(/Ms$/, "").replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.replace(/^is /, "");
}

function textOf(name: string, value: unknown): string {
  if (typeof value === "number") return isDuration(name) ? duration(value) : number(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return escaped(value);
  if (Array.isArray(value) && value.length === 0) return "none";
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return escaped(value.join(", "));
  if (Array.isArray(value) || typeof value !== "object" || value === null) return escaped(JSON.stringify(value));
  const parts = Object.entries(value).map(([part, each]) => `${escaped(wordsOf(part))} ${textOf(part, each)}`);
  return parts.join(", ");
}
