import { counted, duration, number, percent, whole } from "../../../format.ts";
import type { FleetCounts, FleetName, FleetPart } from "../../parts.ts";
import { h, setText } from "../dom.ts";
import { card } from "../parts/card.ts";
import { type Fact, Facts } from "../parts/facts.ts";
import { LivePart } from "../parts/live-part.ts";
import { ProcessList } from "../parts/process-list.ts";
import { RowsTable } from "../parts/rows-table.ts";
import { SaveLinks } from "../parts/save-links.ts";
import type { PanelMaker } from "./panel.ts";
import { settingsSection } from "./settings-panel.ts";

const OTHERS = "(all other names)";

/** The window of each name over all processes, and the processes of the store. */
export const fleetPanel: PanelMaker = (structure) => {
  const facts = new Facts("All names together");
  const hint = h("p", { class: "hint" }, "Loading…");
  const names = new RowsTable<FleetName>("Names", NAME_COLUMNS, ({ name }) => name);
  const save = new SaveLinks("the names", ["json"]);
  save.show({ id: structure.id, part: "names" });
  const section = card("names", "Names", [save.element], hint, names.element);
  const state = h("section", { "aria-label": "All names together" }, facts.element);
  const processes = new ProcessList();
  const part = new LivePart<FleetPart>({
    ...{ id: structure.id, part: "names", element: state },
    show(answer) {
      facts.show(factsOf(answer));
      names.show(answer.names);
      names.element.hidden = answer.names.length === 0;
      setText(hint, hintOf(answer));
      processes.show(answer.processes);
    },
  });
  const element = h("div", { class: "stack" }, state, section, processes.element, settingsSection(structure));
  return { element, update() {}, close: () => part.close() };
};

const NAME_COLUMNS = [
  { head: "Name", cell: ({ name }: FleetName) => h("code", { class: "id", title: name }, name || OTHERS) },
  ...(["allowed", "denied", "success", "failure"] as const).map((name) => ({
    head: name[0]!.toUpperCase() + name.slice(1),
    className: "number",
    cell: (row: FleetName) => whole(row[name]),
  })),
  { head: "Mean ms", className: "number", cell: ({ meanLatencyMs }: FleetName) => number(meanLatencyMs) },
  { head: "Max ms", className: "number", cell: ({ maxLatencyMs }: FleetName) => number(maxLatencyMs) },
];

function factsOf({ total, intervalMs }: FleetPart): Fact[] {
  const fact = (name: keyof FleetCounts, title: string, of?: number) => ({
    name,
    title: `${title} /s`,
    text: number((total[name] * 1000) / intervalMs) + (of ? ` · ${percent(total[name] / of)}` : ""),
    value: total[name],
  });
  return [
    fact("allowed", "Allowed"),
    fact("denied", "Denied", total.allowed + total.denied),
    fact("success", "Succeeded"),
    fact("failure", "Failed", total.success + total.failure),
  ];
}

function hintOf({ names, count, intervalMs }: FleetPart): string {
  if (count === 0) return `No calls within the last ${duration(intervalMs)}.`;
  const first = count > names.length ? `, of which these ${names.length} have the most calls` : "";
  return `${counted(count, "name")}${first}. Counts of all processes within the last ${duration(intervalMs)}.`;
}
