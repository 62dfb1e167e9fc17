import type { StructureEntry } from "../../protocol.ts";
import { routeNow } from "../address.ts";
import { h } from "../dom.ts";
import { GroupView } from "../series/group-view.ts";
import { GroupsView } from "../series/groups-view.ts";
import type { Panel, PanelMaker } from "./panel.ts";

export const seriesGroupPanel: PanelMaker = (structure) => new SeriesGroupPanel(structure);

/** The rows of all groups, or one row over time, as the address says. */
class SeriesGroupPanel implements Panel {
  readonly element = h("div");
  readonly #structure: StructureEntry;
  #view: GroupsView | GroupView | undefined;
  #shown: string | null | undefined;

  constructor(structure: StructureEntry) {
    this.#structure = structure;
  }

  update(): void {
    const match = routeNow().query.get("group");
    if (match === this.#shown) {
      this.#view!.update();
      return;
    }
    const before = this.#view;
    before?.close();
    this.#view = match === null ? new GroupsView(this.#structure) : new GroupView(this.#structure, match);
    this.#shown = match;
    this.element.replaceChildren(this.#view.element);
    if (!before) return;
    this.#view.heading.focus({ preventScroll: true });
    scrollTo(0, 0);
  }

  close(): void {
    this.#view?.close();
  }
}
