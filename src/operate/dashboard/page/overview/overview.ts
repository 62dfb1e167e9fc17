import { counted, whole } from "../../../format.ts";
import type { RowNumbers, StructureEntry } from "../../protocol.ts";
import { change, routeNow } from "../address.ts";
import { h, setText } from "../dom.ts";
import { ask, type PageOverview } from "../server.ts";
import { choiceNow, inOrderOf, listed, TITLES } from "./list.ts";
import { fillRow, makeRow, type StructureRow } from "./row.ts";
import { VirtualRows } from "./virtual-rows.ts";

const SPANS: [string, number][] = [
  ["1 min", 60_000],
  ["5 min", 300_000],
  ["15 min", 900_000],
  ["1 h", 3_600_000],
];
const DEFAULT_SPAN = 300_000;
/** A sort by a number is renewed this often. */
const SORT_MS = 10_000;
/** For this long after the pointer or a key moved on the rows, they stay where they are, so that a click opens the row it is on. */
const STEADY_MS = 2000;

/** All structures: search, sort, and the numbers of the rows on the screen. */
export class OverviewPage {
  readonly element: HTMLElement;
  readonly #numbers = new Map<string, RowNumbers>();
  readonly #search = h("input", {
    type: "search",
    placeholder: "Search  /",
    "aria-label": "Search structures",
    input: () => this.#onSearch(),
  });
  readonly #span = h(
    "select",
    { "aria-label": "Span of the numbers", change: () => change({ span: this.#span.value }) },
    ...SPANS.map(([text, ms]) => h("option", { value: ms }, `last ${text}`)),
  );
  readonly #kinds = h("div", { class: "chips", role: "group", "aria-label": "Kind" });
  readonly #count = h("span", { role: "status" });
  readonly #processes = h("a", { href: "#/processes" });
  readonly #heads: Record<string, HTMLElement> = {
    spark: h("div", { role: "columnheader", class: "trend" }, "Events"),
  };
  readonly #table = h("div", { class: "table", role: "table", "aria-label": "Structures" });
  readonly #viewport = h("div", {
    class: "viewport",
    role: "rowgroup",
    tabindex: "0",
    "aria-label": "Structures, arrow keys move between them",
  });
  readonly #toolbar = h("div", { class: "toolbar" }, this.#search, this.#span, this.#kinds);
  readonly #empty = h("div", { class: "empty", hidden: true });
  readonly #rows: VirtualRows<StructureRow>;
  #overview: PageOverview;
  #list: StructureEntry[] = [];
  /** The choice that `#list` answers. */
  #listed = "";
  #steadyUntilMs = 0;
  #sorting = 0;

  constructor(overview: PageOverview, onShown: () => void) {
    this.#overview = overview;
    const space = h("div", { class: "space", role: "presentation" });
    this.#viewport.append(space);
    for (const type of ["pointermove", "pointerdown", "keydown"])
      this.#viewport.addEventListener(type, () => {
        this.#steadyUntilMs = performance.now() + STEADY_MS;
      });
    this.#table.append(this.#headRow(), this.#viewport);
    this.element = h(
      "section",
      { class: "overview", "aria-labelledby": "overview-title" },
      h("h1", { id: "overview-title", class: "visually-hidden" }, "Structures"),
      this.#toolbar,
      this.#table,
      this.#empty,
      h("p", { class: "hint" }, this.#count, ", ", this.#processes),
    );
    this.#rows = new VirtualRows(
      this.#viewport,
      space,
      makeRow,
      (row, i) => fillRow(row, this.#list[i]!, this.#numbers.get(this.#list[i]!.id), i),
      onShown,
    );
  }

  get spanMs(): number {
    return Number(routeNow().query.get("span")) || DEFAULT_SPAN;
  }

  /** Ids of the rows on the screen. */
  get visibleIds(): string[] {
    return this.#rows.visible.flatMap((i) => this.#list[i]?.id ?? []);
  }

  show(overview: PageOverview): void {
    this.#overview = overview;
    this.update();
  }

  numbers(rows: Record<string, RowNumbers>): void {
    for (const [id, row] of Object.entries(rows)) this.#numbers.set(id, row);
    this.#rows.refresh();
  }

  focusSearch(): void {
    this.#search.focus();
  }

  /** Reads the address. */
  update(): void {
    const choice = choiceNow();
    if (document.activeElement !== this.#search) this.#search.value = choice.search;
    if (this.#span.value !== String(this.spanMs)) this.#numbers.clear();
    this.#span.value = String(this.spanMs);
    this.#drawKinds(choice.kind);
    this.#draw();
    clearTimeout(this.#sorting);
    if (choice.sort !== "name") void this.#sortByNumbers();
  }

  close(): void {
    clearTimeout(this.#sorting);
  }

  #draw(): void {
    const { structures } = this.#overview;
    const choice = choiceNow();
    const list = listed(structures, choice, this.#numbers);
    const asked = JSON.stringify(choice);
    const isSteady = asked === this.#listed && performance.now() < this.#steadyUntilMs;
    this.#list = isSteady ? inOrderOf(this.#list, list) : list;
    this.#listed = asked;
    this.#table.setAttribute("aria-rowcount", String(this.#list.length + 1));
    const { kind, columns } = this.#list[0] ?? {};
    // Rows of several kinds have labels of their own instead of headings, but that of their order.
    const isMixed = this.#list.some((each) => each.kind !== kind);
    this.#table.classList.toggle("mixed", isMixed);
    const heads: readonly string[] = ["name", ...(isMixed ? [choice.sort] : (columns ?? []))];
    for (const [name, head] of Object.entries(this.#heads)) {
      head.hidden = !heads.includes(name);
      head.setAttribute("aria-sort", name !== choice.sort ? "none" : choice.isRising ? "ascending" : "descending");
    }
    const isEmpty = this.#list.length === 0;
    this.#empty.hidden = !isEmpty;
    this.#table.hidden = isEmpty;
    this.#toolbar.hidden = structures.length === 0;
    if (isEmpty) this.#empty.replaceChildren(h("div", {}, ...emptyState(this.#overview)));
    const shown = this.#list.length === structures.length ? "" : `${whole(this.#list.length)} of `;
    setText(this.#count, shown + counted(structures.length, "structure"));
    setText(this.#processes, counted(this.#overview.processes.length, "process"));
    this.#rows.reset(this.#list.length);
  }

  async #sortByNumbers(): Promise<void> {
    const before = routeNow().query.toString();
    try {
      const rows = await ask<Record<string, RowNumbers>>("rank", { span: this.spanMs });
      if (routeNow().query.toString() !== before || !this.element.isConnected) return;
      this.numbers(rows);
      this.#draw();
    } catch {
      // The stream tells why.
    }
    if (this.element.isConnected) this.#sorting = window.setTimeout(() => void this.#sortByNumbers(), SORT_MS);
  }

  #onSearch(): void {
    change({ q: this.#search.value }, true);
  }

  #drawKinds(chosen: string | null): void {
    const { structures } = this.#overview;
    const counts = new Map<string | null, number>([[null, structures.length]]);
    for (const { kind } of structures) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const chips = [...counts].map(([kind, count]) =>
      h(
        "button",
        { type: "button", class: "chip", "aria-pressed": String(kind === chosen), click: () => change({ kind }) },
        kind ?? "All",
        h("span", { class: "count" }, whole(count)),
      ),
    );
    const focused = [...this.#kinds.children].indexOf(document.activeElement as Element);
    this.#kinds.replaceChildren(...(counts.size > 2 || chosen !== null ? chips : []));
    (this.#kinds.children[focused] as HTMLElement | undefined)?.focus();
  }

  #headRow(): HTMLElement {
    const head = (name: string, text: string, className: string) => {
      const cell = h(
        "div",
        { role: "columnheader", class: className },
        h("button", { type: "button", click: () => this.#onSort(name) }, text),
      );
      this.#heads[name] = cell;
      return cell;
    };
    return h(
      "div",
      { role: "rowgroup", class: "head" },
      h(
        "div",
        { role: "row", class: "row", "aria-rowindex": "1" },
        head("name", "Name", "name"),
        this.#heads.spark,
        ...Object.entries(TITLES).map(([name, title]) => head(name, title, `number ${name}`)),
      ),
    );
  }

  #onSort(name: string): void {
    const { sort, isRising } = choiceNow();
    const isFirst = sort === name && isRising === (name === "name");
    change({ sort: name, order: isFirst ? (isRising ? "down" : "up") : null }, true);
  }
}

const EXAMPLE = `import { Series, redisStore } from 'oriel';

const store = redisStore('redis://127.0.0.1:6379');
const latency = new Series(store, 'api:latency');
await latency.record(12.5);`;

/** Says what to do next. */
function emptyState({ structures, health }: PageOverview): HTMLElement[] {
  if (structures.length > 0)
    return [
      h("h2", {}, "No structure matches"),
      h("p", {}, "The search looks for each word in the kind and the name."),
      h("button", { type: "button", click: () => change({ q: null, kind: null }) }, "Show all structures"),
    ];
  if (health.state === "down")
    return [
      h("h2", {}, "The store does not answer"),
      h("p", {}, "Structures appear here when it is back. ", h("code", {}, "oriel doctor"), " examines the server."),
    ];
  return [
    h("h2", {}, "No structures yet"),
    h("p", {}, "Each process announces its structures at its first call. Run this, and keep the process running:"),
    h("pre", { tabindex: "0" }, h("code", {}, EXAMPLE)),
    h(
      "p",
      { class: "hint" },
      "Is a program already running? Compare its server and its prefix with those of the dashboard. Stores with registry: false are not listed.",
    ),
  ];
}
