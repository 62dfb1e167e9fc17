import { counted, when } from "../../../format.ts";
import type { ProcessEntry } from "../../protocol.ts";
import { h, setText } from "../dom.ts";
import { card } from "./card.ts";
import { RowsTable } from "./rows-table.ts";

/** The processes that have announced themselves, with their versions. */
export class ProcessList {
  readonly #hint = h("p", { class: "hint" });
  readonly #table = new RowsTable<ProcessEntry>(
    "Processes",
    [
      { head: "Process", cell: ({ id }) => h("code", { class: "id", title: id }, id) },
      { head: "Host", cell: ({ host }) => h("bdi", {}, host) },
      { head: "Version", cell: ({ version }) => h("bdi", {}, version) },
      { head: "Started", cell: ({ startedMs }) => timeOf(startedMs) },
      { head: "Last seen", cell: ({ seenMs }) => timeOf(seenMs) },
    ],
    ({ id }) => id,
  );
  readonly element = card("processes", "Processes of this store", [], this.#hint, this.#table.element);

  show(processes: readonly ProcessEntry[]): void {
    const versions = [...new Set(processes.map(({ version }) => version))];
    this.#table.show(processes);
    this.#table.element.hidden = processes.length === 0;
    this.#hint.className = versions.length > 1 ? "notice warn" : "hint";
    const mixed = versions.length > 1 ? ` They run different versions of oriel: ${versions.join(", ")}.` : "";
    setText(this.#hint, `${counted(processes.length, "process")} within the last hour.${mixed}`);
  }
}

function timeOf(ms: number): HTMLElement {
  return h("time", { title: new Date(ms).toISOString() }, when(ms));
}
