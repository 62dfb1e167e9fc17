import { age, number } from "../../../format.ts";
import { COLUMNS, type Column, type RowNumbers, type StructureEntry } from "../../protocol.ts";
import { addressOf, routeNow } from "../address.ts";
import { h, setText, svg } from "../dom.ts";
import type { RowView } from "./virtual-rows.ts";

export interface StructureRow extends RowView {
  readonly link: HTMLAnchorElement;
  readonly kind: HTMLElement;
  readonly note: HTMLElement;
  readonly spark: Spark;
  readonly cells: ReadonlyMap<Column, HTMLElement>;
}

/** Makes an empty row. */
export function makeRow(): StructureRow {
  const link = h("a", { tabindex: "-1" });
  const kind = h("span", { class: "kind" });
  const note = h("span", { class: "note" });
  const spark = new Spark();
  const cells = new Map(COLUMNS.map((name) => [name, h("div", { role: "cell", class: `number ${name}` })] as const));
  const element = h(
    "div",
    { role: "row", class: "row" },
    h("div", { role: "cell", class: "name" }, link, h("span", { class: "under" }, kind, note)),
    h("div", { role: "cell", class: "trend" }),
    ...cells.values(),
  );
  element.children[1]!.append(spark.element);
  return { element, focus: link, link, kind, note, spark, cells };
}

/** Shows a structure in a row, at its place in the list. */
export function fillRow(
  { element, link, kind, note, spark, cells }: StructureRow,
  entry: StructureEntry,
  numbers: RowNumbers | undefined,
  index: number,
): void {
  element.setAttribute("aria-rowindex", String(index + 2));
  setText(link, entry.name === "" ? "(no name)" : entry.name.slice(0, 300));
  const span = routeNow().query.get("span");
  link.href = addressOf(entry, span);
  setText(kind, entry.kind);
  const trouble = numbers?.error ?? (entry.conflict ? "settings differ: give all processes the same" : undefined);
  const state = numbers?.state || (entry.processes === 0 ? "idle" : "");
  setText(
    note,
    trouble !== undefined
      ? `▲ ${trouble}`
      : numbers?.isBad
        ? `■ ${state}${numbers.advice ? `: ${numbers.advice}` : ""}`
        : state,
  );
  note.title = trouble ?? "";
  note.classList.toggle("warn", trouble !== undefined);
  note.classList.toggle("bad", trouble === undefined && numbers?.isBad === true);
  spark.show(numbers?.spark);
  for (const [name, cell] of cells) {
    const has = entry.columns.includes(name);
    const value = numbers?.[name];
    setText(cell, has && numbers && !numbers.error ? textOf(name, value) : "");
    cell.title = typeof value === "number" ? String(value) : "";
  }
}

function textOf(name: Column, value: number | null | undefined): string {
  return name === "lag" && typeof value === "number" ? age(value) : number(value);
}

const WIDTH = 100;
const HEIGHT = 26;

/** The course of a rate: an area from 0 to its maximum. */
class Spark {
  readonly #area = svg("path", { class: "spark-area" });
  readonly #line = svg("path", { class: "spark-line" });
  readonly element = svg(
    "svg",
    { class: "spark", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    this.#area,
    this.#line,
  );
  #drawn: readonly number[] | undefined;

  show(counts: readonly number[] | undefined): void {
    if (counts === this.#drawn) return;
    this.#drawn = counts;
    const most = Math.max(...(counts ?? []), 1);
    const points = (counts?.some((count) => count > 0) ? counts : []).map((count, i) => {
      const x = (i / Math.max(1, counts!.length - 1)) * WIDTH;
      return `${x.toFixed(1)} ${(HEIGHT - 1 - (count / most) * (HEIGHT - 3)).toFixed(1)}`;
    });
    this.#line.setAttribute("d", points.length > 0 ? `M${points.join("L")}` : "");
    this.#area.setAttribute("d", points.length > 0 ? `M0 ${HEIGHT}L${points.join("L")}L${WIDTH} ${HEIGHT}Z` : "");
  }
}
