import { age, number } from "../../../format.ts";
import type { Column, RowNumbers, StructureEntry } from "../../protocol.ts";
import { addressOf, routeNow } from "../address.ts";
import { h, setText, svg } from "../dom.ts";
import { TITLES } from "./list.ts";
import type { RowView } from "./virtual-rows.ts";

export interface StructureRow extends RowView {
  readonly link: HTMLAnchorElement;
  readonly kind: HTMLElement;
  readonly note: HTMLElement;
  readonly spark: Spark;
  /** Those that another kind has are hidden. */
  readonly cells: readonly (readonly [Column, HTMLElement])[];
}

/** Makes an empty row. */
export function makeRow(): StructureRow {
  const link = h("a", { tabindex: "-1" });
  const kind = h("span", { class: "kind" });
  const note = h("span", { class: "note" });
  const spark = new Spark();
  const cells = Object.entries(TITLES).map(
    ([name, title]) =>
      [name as Column, h("div", { role: "cell", class: `number ${name}`, "data-head": title })] as const,
  );
  const element = h(
    "div",
    { role: "row", class: "row" },
    h("div", { role: "cell", class: "name" }, link, h("span", { class: "under" }, kind, note)),
    spark.element,
    ...cells.map(([, cell]) => cell),
  );
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
  setText(link, entry.name.slice(0, 300) || "(no name)");
  const span = routeNow().query.get("span");
  link.href = addressOf(entry, span);
  setText(kind, entry.kind);
  const trouble = numbers?.error ?? (entry.conflict && "settings differ: give all processes the same");
  const isBad = !trouble && numbers?.isBad;
  const state = numbers?.state || (entry.processes === 0 ? "idle" : "");
  const advice = numbers?.advice ? `: ${numbers.advice}` : "";
  setText(note, trouble ? `▲ ${trouble}` : isBad ? `■ ${state}${advice}` : state);
  note.title = trouble ?? "";
  note.className = `note ${trouble ? "warn" : isBad ? "bad" : ""}`;
  spark.show(numbers?.spark);
  const columns = numbers?.error ? [] : entry.columns;
  spark.element.hidden = !columns.includes("spark");
  for (const [name, cell] of cells) {
    const value = numbers?.[name];
    cell.hidden = !columns.includes(name);
    setText(cell, !numbers ? "" : name === "lag" && typeof value === "number" ? age(value) : number(value));
    cell.title = `${value ?? ""}`;
  }
}

const WIDTH = 100;
const HEIGHT = 26;

/** The course of a rate: an area from 0 to its maximum. */
class Spark {
  readonly #area = svg("path", { class: "spark-area" });
  readonly #line = svg("path", { class: "spark-line" });
  readonly element = h(
    "div",
    { role: "cell", class: "trend" },
    svg(
      "svg",
      { class: "spark", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" },
      this.#area,
      this.#line,
    ),
  );
  #drawn: readonly number[] | undefined;

  show(counts: readonly number[] = []): void {
    if (counts === this.#drawn) return;
    this.#drawn = counts;
    const most = Math.max(...counts);
    const points = (most > 0 ? counts : []).map((count, i) => {
      const x = (i / Math.max(1, counts.length - 1)) * WIDTH;
      return `${x.toFixed(1)} ${(HEIGHT - 1 - (count / most) * (HEIGHT - 3)).toFixed(1)}`;
    });
    const line = points.join("L");
    this.#line.setAttribute("d", line && `M${line}`);
    this.#area.setAttribute("d", line && `M0 ${HEIGHT}L${line}L${WIDTH} ${HEIGHT}Z`);
  }
}
