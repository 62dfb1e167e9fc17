import { counted, number, whole } from "../../../format.ts";
import type { GroupLine, GroupsPart } from "../../parts.ts";
import type { StructureEntry } from "../../protocol.ts";
import { addressWith, change, routeNow } from "../address.ts";
import { h, setText } from "../dom.ts";
import { HistoryWindow } from "../history/history-window.ts";
import { settingsSection } from "../kinds/settings-panel.ts";
import { card } from "../parts/card.ts";
import { LivePart } from "../parts/live-part.ts";
import { RowsTable, type TableColumn } from "../parts/rows-table.ts";
import { Summary } from "./summary.ts";
import { retentionMsOf, spansOf } from "./view-state.ts";

/** For this long after the pointer or a key moved on the rows, they stay where they are, so that a click opens the row it is on. */
const STEADY_MS = 2000;

const NUMBERS = [
  ["count", "Events"],
  ["rate", "Rate /s"],
  ["mean", "Mean"],
  ["p50", "p50"],
  ["p90", "p90"],
  ["p99", "p99"],
  ["max", "Max"],
] as const;

/** All groups together, and a table of their rows. */
export class GroupsView {
  readonly element: HTMLElement;
  readonly heading: HTMLElement;
  readonly #labels: readonly string[];
  readonly #window: HistoryWindow;
  readonly #chips: readonly HTMLElement[];
  readonly #summary = new Summary();
  readonly #hint = h("p", { class: "hint" }, "Loading…");
  readonly #place = h("div");
  readonly #part: LivePart<GroupsPart>;
  #table: RowsTable<GroupLine> | undefined;
  /** The labels that the table has columns for. */
  #by = "";
  #order: { asked: string; places: Map<string, number> } = { asked: "", places: new Map() };
  #steadyUntilMs = 0;

  constructor(structure: StructureEntry) {
    const { id, settings } = structure;
    this.#labels = String(settings.labels).split(" ");
    const file = () => ({ id, part: "rows", ...choiceQuery() });
    this.#window = new HistoryWindow("the rows", ["csv", "json"], file, spansOf(retentionMsOf(structure)));
    this.#chips = this.#labels.map((name) =>
      h("button", { type: "button", class: "chip", click: () => this.#toggle(name) }, name),
    );
    const chips = h("div", { class: "chips", role: "group", "aria-label": "A row for each" }, ...this.#chips);
    const choice = h("div", { class: "labelled" }, h("span", { "aria-hidden": "true" }, "A row for each"), chips);
    const rows = card("groups", "Groups", this.#chips.length > 1 ? [choice] : [], this.#hint, this.#place);
    this.heading = rows.querySelector("h2")!;
    this.heading.tabIndex = -1;
    for (const type of ["pointermove", "pointerdown", "keydown"])
      this.#place.addEventListener(type, () => {
        this.#steadyUntilMs = performance.now() + STEADY_MS;
      });
    const { notice, element } = this.#summary;
    this.element = h(
      "div",
      { class: "stack" },
      this.#window.element,
      notice,
      element,
      rows,
      settingsSection(structure),
    );
    this.#part = new LivePart<GroupsPart>({
      ...{ id, part: "rows", element: this.element },
      query: () => ({ ...this.#window.query, ...choiceQuery() }),
      show: (part) => this.#show(part),
    });
    this.#mark();
  }

  update(): void {
    this.#window.update();
    this.#mark();
    this.#part.refresh();
  }

  close(): void {
    this.#part.close();
  }

  #show(part: GroupsPart): void {
    this.#window.update(part);
    this.#summary.show(part, undefined);
    const by = part.by.join();
    if (!this.#table || by !== this.#by) {
      this.#table = new RowsTable("Groups", columnsOf(part.by), keyOf, (name) => sortBy(name));
      this.#place.replaceChildren(this.#table.element);
      this.#by = by;
    }
    this.#mark();
    this.#table.show(this.#inOrder(part));
    this.#table.element.hidden = part.count === 0;
    setText(this.#hint, hintOf(part, part.by.length === this.#labels.length ? "group" : "row"));
  }

  /** Shows what the address says. */
  #mark(): void {
    const by = byNow() ?? this.#labels;
    for (const [i, chip] of this.#chips.entries())
      chip.setAttribute("aria-pressed", String(by.includes(this.#labels[i]!)));
    const { sort, isRising } = orderNow();
    this.#table?.sorted(sort, isRising);
  }

  /** The rows stay where they are while someone points at them. */
  #inOrder({ by, rows }: GroupsPart): readonly GroupLine[] {
    const { asked, places } = this.#order;
    const { sort, isRising } = orderNow();
    const now = JSON.stringify([by, sort, isRising]);
    const placeOf = (row: GroupLine) => places.get(keyOf(row)) ?? places.size;
    const isSteady = asked === now && performance.now() < this.#steadyUntilMs;
    const shown = isSteady ? [...rows].sort((a, b) => placeOf(a) - placeOf(b)) : rows;
    this.#order = { asked: now, places: new Map(shown.map((row, i) => [keyOf(row), i])) };
    return shown;
  }

  /** The last label that is taken away brings all of them back. */
  #toggle(name: string): void {
    const before = byNow() ?? this.#labels;
    const by = this.#labels.filter((each) => before.includes(each) !== (each === name));
    const isGone = orderNow().sort === `label.${name}` && !by.includes(name);
    change({ by: by.length < this.#labels.length ? by.join() : null, ...(isGone && { sort: null, order: null }) });
  }
}

function byNow(): string[] | undefined {
  return routeNow().query.get("by")?.split(",");
}

function orderNow(): { sort: string; isRising: boolean } {
  const { query } = routeNow();
  const sort = query.get("sort") ?? "count";
  const order = query.get("order");
  return { sort, isRising: order === null ? isLabel(sort) : order === "up" };
}

/** Texts begin with the first one, numbers with the largest. */
function isLabel(sort: string): boolean {
  return sort.startsWith("label.");
}

/** The rows and their order, as the server reads them. */
function choiceQuery(): Record<string, string> {
  const { query } = routeNow();
  const names = ["by", "sort", "order"].filter((name) => query.has(name));
  return Object.fromEntries(names.map((name) => [name, query.get(name)!]));
}

function sortBy(name: string): void {
  const { sort, isRising } = orderNow();
  const isAgain = sort === name && isRising === isLabel(name);
  change({ sort: name, order: isAgain ? (isRising ? "down" : "up") : null }, true);
}

function keyOf({ values }: GroupLine): string {
  return JSON.stringify(values);
}

function columnsOf(by: readonly string[]): TableColumn<GroupLine>[] {
  const code = (value: string) => h("code", { class: "id", title: value }, value === "" ? "(empty)" : value);
  const link = ({ values }: GroupLine) => {
    const match = Object.fromEntries(by.map((name, i) => [name, values[i]!]));
    return h("a", { href: addressWith({ group: JSON.stringify(match) }) }, code(values[0]!));
  };
  return [
    ...by.map((head, i) => ({
      head,
      sort: `label.${head}`,
      cell: (row: GroupLine) => (i === 0 ? link(row) : code(row.values[i]!)),
    })),
    ...NUMBERS.map(([name, head]) => ({
      head,
      sort: name,
      className: "number",
      cell: (row: GroupLine) => {
        const value = row[name];
        return h("span", { title: String(value ?? "") }, name === "count" ? whole(row.count) : number(value));
      },
    })),
  ];
}

function hintOf({ count, rows, others }: GroupsPart, noun: string): string {
  if (count === 0)
    return "No event in this window. Choose a longer span, or record a value: the view follows by itself.";
  const { sort, isRising } = orderNow();
  const title = NUMBERS.find(([name]) => name === sort)?.[1];
  const which =
    title === undefined ? "are the first" : `have the ${isRising ? "smallest" : "largest"} number: ${title}`;
  const first = count > rows.length ? `, of which these ${rows.length} ${which}` : "";
  const kept =
    others > 0 ? ` ${counted(others, "event")} count as _other, for there are more groups than are kept.` : "";
  return `${counted(count, noun)}${first}.${kept}`;
}
