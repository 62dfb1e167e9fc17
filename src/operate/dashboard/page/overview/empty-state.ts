import { change } from "../address.ts";
import { h } from "../dom.ts";
import type { PageOverview } from "../server.ts";

const EXAMPLE = `import { Series, redisStore } from 'oriel';

const store = redisStore('redis://127.0.0.1:6379');
const latency = new Series(store, 'api:latency');
await latency.record(12.5);`;

/** Says what to do next. */
export function emptyState({ structures, health }: PageOverview): HTMLElement {
  if (structures.length > 0)
    return h(
      "div",
      {},
      h("h2", {}, "No structure matches"),
      h("p", {}, "The search looks for each word in the kind and the name."),
      h("button", { type: "button", click: () => change({ q: null, kind: null }) }, "Show all structures"),
    );
  if (health.state === "down")
    return h(
      "div",
      {},
      h("h2", {}, "The store does not answer"),
      h("p", {}, "Structures appear here when it is back. ", h("code", {}, "oriel doctor"), " examines the server."),
    );
  return h(
    "div",
    {},
    h("h2", {}, "No structures yet"),
    h("p", {}, "Each process announces its structures at its first call. Run this, and keep the process running:"),
    h("pre", { tabindex: "0" }, h("code", {}, EXAMPLE)),
    h(
      "p",
      { class: "hint" },
      "Is a program already running? Compare its server and its prefix with those of the dashboard. Stores with registry: false are not listed.",
    ),
  );
}
