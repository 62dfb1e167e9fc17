import { h } from "../dom.ts";
import type { Panel } from "../kinds/panel.ts";
import { ProcessList } from "../parts/process-list.ts";
import type { PageOverview } from "../server.ts";

/** The server reads the registry this often. */
const REFRESH_MS = 5000;

/** The processes of the store. `ask` asks for them again. */
export function processesPage(overview: PageOverview, ask: () => void): Panel {
  const list = new ProcessList();
  list.show(overview.processes);
  const timer = setInterval(() => document.hidden || ask(), REFRESH_MS);
  return {
    element: h("div", { class: "stack" }, list.element),
    update() {},
    overview: ({ processes }) => list.show(processes),
    close: () => clearInterval(timer),
  };
}
