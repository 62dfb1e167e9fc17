import { h } from "../dom.ts";

export interface TableColumn<Row> {
  readonly head: string;
  /** The meaning of the head, as its tooltip. */
  readonly title?: string;
  readonly cell: (row: Row) => Node | string;
  /** "number" is aligned to the right; "wide" is left out on a narrow screen. */
  readonly className?: string;
  /** A click on the head sorts by this name. */
  readonly sort?: string;
}

/**
 * A table whose rows stay as long as their key does, and cells as long as their content, and with them the focus and what is open. On a narrow
 * screen each row is a block, so the roles are named, which browsers would otherwise forget.
 */
export class RowsTable<Row> {
  readonly element: HTMLElement;
  readonly #columns: readonly TableColumn<Row>[];
  readonly #keyOf: (row: Row) => string;
  readonly #body = h("tbody", { role: "rowgroup" });
  readonly #heads: readonly HTMLElement[];
  #rows = new Map<string, { text: string; element: HTMLElement }>();

  /** `onSort` is called with the name of the column whose head was chosen. */
  constructor(
    label: string,
    columns: readonly TableColumn<Row>[],
    keyOf: (row: Row) => string,
    onSort?: (name: string) => void,
  ) {
    this.#columns = columns;
    this.#keyOf = keyOf;
    this.#heads = columns.map(({ head, title, className = "", sort }) => {
      const button = sort !== undefined && h("button", { type: "button", click: () => onSort?.(sort) }, head);
      return h("th", { role: "columnheader", scope: "col", class: className, title }, button || head);
    });
    this.element = h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
      h(
        "table",
        { role: "table", class: onSort ? "rows sortable" : "rows" },
        h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ...this.#heads)),
        this.#body,
      ),
    );
  }

  /** Says by which column the rows are sorted. */
  sorted(name: string, isRising: boolean): void {
    for (const [i, { sort }] of this.#columns.entries())
      this.#heads[i]!.setAttribute("aria-sort", sort !== name ? "none" : isRising ? "ascending" : "descending");
  }

  show(rows: readonly Row[]): void {
    const before = this.#rows;
    this.#rows = new Map();
    for (const row of rows) {
      const text = JSON.stringify(row);
      let key = this.#keyOf(row);
      while (this.#rows.has(key)) key += "+"; // no row is lost if two have one key
      const known = before.get(key);
      const element = known?.text === text ? known.element : this.#rowOf(row);
      this.#rows.set(key, { text, element: known ? renewed(known.element, element) : element });
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

/** Gives a row the cells of a newer one that differ. */
function renewed(row: HTMLElement, newer: HTMLElement): HTMLElement {
  if (row === newer) return row;
  const cells = [...newer.children];
  for (const [i, cell] of [...row.children].entries()) if (!cell.isEqualNode(cells[i]!)) cell.replaceWith(cells[i]!);
  return row;
}
