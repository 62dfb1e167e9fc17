import { when, whole } from "../../../format.ts";
import type { BreakerOpening } from "../../parts.ts";
import { h } from "../dom.ts";
import { card } from "../parts/card.ts";
import { LivePart } from "../parts/live-part.ts";
import { RowsTable } from "../parts/rows-table.ts";
import { SaveLinks } from "../parts/save-links.ts";

const CAUSES = {
  calls: "calls failed or were slow",
  probe: "a probe failed or took too long",
  order: "opened by hand",
};

/** The openings of a circuit with their causes, the latest first. */
export class OpeningsView {
  readonly element: HTMLElement;
  readonly #part: LivePart<BreakerOpening[]>;

  constructor(id: string) {
    const none = h("p", { class: "hint" }, "Loading…");
    const table = new RowsTable<BreakerOpening>(
      "Openings",
      [
        { head: "Opened", cell: ({ atMs }) => h("time", { title: new Date(atMs).toISOString() }, when(atMs)) },
        { head: "Because", cell: ({ cause }) => CAUSES[cause] },
        { head: "Calls", className: "number", cell: ({ calls }) => whole(calls) },
        { head: "Failed", className: "number", cell: ({ failures }) => whole(failures) },
        { head: "Slow", className: "number", cell: ({ slow }) => whole(slow) },
      ],
      ({ atMs }) => String(atMs),
    );
    const save = new SaveLinks("the openings", ["json"]);
    save.show({ id, part: "openings" });
    this.element = card("openings", "Openings", [save.element], none, table.element);
    this.#part = new LivePart<BreakerOpening[]>({
      ...{ id, part: "openings", element: this.element },
      show(openings) {
        none.hidden = openings.length > 0;
        none.textContent = "No opening is known.";
        table.element.hidden = openings.length === 0;
        table.show(openings);
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
