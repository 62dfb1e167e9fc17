import { age, whole } from "../../../format.ts";
import type { SemaphorePart } from "../../parts.ts";
import { h, setText } from "../dom.ts";
import { card } from "../parts/card.ts";
import { type Fact, Facts } from "../parts/facts.ts";
import { LivePart } from "../parts/live-part.ts";
import { RowsTable } from "../parts/rows-table.ts";
import type { PanelMaker } from "./panel.ts";
import { settingsSection } from "./settings-panel.ts";

/** A hold and its place in the list, since it has no name. */
type Row = SemaphorePart["holds"][number] & { at: number };

/** The permits in use and their holds. */
export const semaphorePanel: PanelMaker = (structure) => {
  const facts = new Facts("Permits");
  const state = h("section", { "aria-label": "Permits" }, facts.element);
  const hint = h("p", { class: "hint" }, "Loading…");
  const table = new RowsTable<Row>("Holds", COLUMNS, ({ at }) => String(at));
  const { servers } = structure.settings;
  const where =
    typeof servers === "number" && servers > 1 ? ` On this server; the majority of ${servers} servers decides.` : "";
  const part = new LivePart<SemaphorePart>({
    ...{ id: structure.id, part: "state", element: state },
    show(answer) {
      const { holds, inUse } = answer;
      facts.show(factsOf(answer));
      table.show(holds.map((each, at) => ({ ...each, at })));
      table.element.hidden = holds.length === 0;
      const listed = holds.reduce((sum, { permits }) => sum + permits, 0);
      const rest = inUse > listed ? ` The holds that end first have ${listed} of the permits in use.` : "";
      setText(hint, (inUse === 0 ? "No permit is in use." : "The next end is first.") + rest + where);
    },
  });
  const holds = card("holds", "Holds", [], hint, table.element);
  const element = h("div", { class: "stack" }, state, holds, settingsSection(structure));
  return { element, update() {}, close: () => part.close() };
};

const COLUMNS = [
  { head: "Hold", cell: ({ at }: Row) => whole(at + 1) },
  { head: "Permits", className: "number", cell: ({ permits }: Row) => whole(permits) },
  { head: "Lease left", className: "number", cell: ({ leftMs }: Row) => age(leftMs) },
];

function factsOf({ limit, inUse, holds }: SemaphorePart): Fact[] {
  const next = holds[0]?.leftMs;
  const free = limit === null ? null : Math.max(0, limit - inUse);
  const isFull = free === 0;
  return [
    {
      name: "used",
      title: "In use",
      text: limit === null ? whole(inUse) : `${whole(inUse)} of ${whole(limit)}`,
      value: inUse,
    },
    {
      name: "free",
      title: "Free",
      text: free === null ? "–" : whole(free),
      value: free,
      level: isFull ? "warn" : undefined,
    },
    { name: "next", title: "Next lease ends", text: next === undefined ? "–" : `in ${age(next)}`, value: null },
  ];
}
