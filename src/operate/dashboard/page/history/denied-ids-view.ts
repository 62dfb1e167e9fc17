import { age, whole } from "../../../format.ts";
import type { DeniedId } from "../../parts.ts";
import { h } from "../dom.ts";
import { card } from "../parts/card.ts";
import { LivePart } from "../parts/live-part.ts";
import { RowsTable } from "../parts/rows-table.ts";
import { SaveLinks } from "../parts/save-links.ts";

/** Each id is asked for its present state. */
const REFRESH_MS = 10_000;

/** The ids that were denied most, and what the policies say of them now. */
export class DeniedIdsView {
  readonly element: HTMLElement;
  readonly #part: LivePart<DeniedId[]>;

  /** `buttonsOf` makes what an operator may do with an id. */
  constructor(id: string, buttonsOf: (deniedId: string) => HTMLElement) {
    const none = h("p", { class: "hint" }, "Loading…");
    const table = new RowsTable<DeniedId>(
      "Ids that were denied most",
      [
        { head: "Id", cell: (each) => h("code", { class: "id", title: each.id }, each.id) },
        { head: "Denied", className: "number", cell: ({ count }) => whole(count) },
        { head: "Next call", cell: nextCall },
        { head: "Used", cell: usedOf },
        { head: "", cell: (each) => buttonsOf(each.id) },
      ],
      // Under maskIds several ids look the same.
      ({ key }) => key,
    );
    const save = new SaveLinks("the denied ids", ["json"]);
    save.show({ id, part: "denied" });
    this.element = card("denied", "Denied most in the last hour", [save.element], none, table.element);
    this.#part = new LivePart<DeniedId[]>({
      ...{ id, part: "denied", element: this.element, everyMs: REFRESH_MS },
      show(ids) {
        none.hidden = ids.length > 0;
        none.textContent = "No id was denied.";
        table.element.hidden = ids.length === 0;
        table.show(ids);
      },
    });
  }

  refresh(): void {
    this.#part.refresh();
  }

  close(): void {
    this.#part.close();
  }
}

function nextCall({ now }: DeniedId): HTMLElement | string {
  if (!now) return "";
  if (!now.isDenied) return h("span", { class: "good" }, "passes");
  const when = now.waitMs === null ? "never passes" : `passes in ${age(now.waitMs)}`;
  return h("span", { class: "bad" }, when);
}

function usedOf({ now }: DeniedId): HTMLElement {
  const parts = (now?.policies ?? []).map(({ name, isShadow, isDenied, used, limit }) =>
    h(
      "li",
      { class: isDenied && !isShadow ? "bad" : "" },
      h("bdi", {}, name),
      isShadow ? " (shadow)" : "",
      ` ${whole(used)} of ${whole(limit)}`,
    ),
  );
  return h("ul", { class: "plain" }, ...parts);
}
