import { h } from "../dom.ts";

export interface TableColumn<Row> {
  readonly head: string;
  /** The meaning of the head, as its tooltip. */
  readonly title?: string;
  readonly cell: (row: Row) => Node | string;
  /** "number" is aligned to the right; "wide" is left out on a narrow screen. */
  readonly className?: string;
}

/**
 * A table whose rows stay as long as their key and content do, and with them the focus and what is open. On a narrow
 * screen each row is a block, so the roles are named, which browsers would otherwise forget.
 */
export class RowsTable<Row> {
  readonly element: HTMLElement;
  readonly #columns: readonly TableColumn<Row>[];
  readonly #keyOf: (row: Row) => string;
  readonly #body = h("tbody", { role: "rowgroup" });
  #rows = new Map<string, { text: string; element: HTMLElement }>();

  constructor(label: string, columns: readonly TableColumn<Row>[], keyOf: (row: Row) => string) {
    this.#columns = columns;
    this.#keyOf = keyOf;
    const heads = columns.map(({ head, title, className = "" }) =>
      h("th", { role: "columnheader", scope: "col", class: className, title }, head),
    );
    this.element = h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
      h(
        "table",
        { role: "table", class: "rows" },
        h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ...heads)),
        this.#body,
      ),
    );
  }

  show(rows: readonly Row[]): void {
    const before = this.#rows;
    this.#rows = new Map();
    for (const row of rows) {
      const text = JSON.stringify(row);
      let key = this.#keyOf(row);
      while (this.#rows.has(key)) key += "+"; // no row is lost if two have one key
      const known = before.get(key);
      this.#rows.set(key, known?.text === text ? known : { text, element: this.#rowOf(row) });
    }
    const focused = document.activeElement as HTMLElement | null;
    const elements = [...this.#rows.values()].map(({ element }) => element);
    if (elements.length === this.#body.children.length && elements.every((each, i) => each === this.#body.children[i]))
      return;
    const isInside = this.#body.contains(focused);
    this.#body.replaceChildren(...elements);
    if (!isInside) return;
    if (focused!.isConnected) focused!.focus({ preventScroll: true });
    else this.element.focus({ preventScroll: true });
  }

  #rowOf(row: Row): HTMLElement {
    const cells = this.#columns.map(({ head, cell, className = "" }) =>
      h("td", { role: "cell", class: className, "data-head": head }, cell(row)),
    );
    return h("tr", { role: "row" }, ...cells);
  }
}
