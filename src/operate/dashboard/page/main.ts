import type { StructureEntry } from "../protocol.ts";
import { routeNow } from "./address.ts";
import { h, setText } from "./dom.ts";
import { breakerPanel } from "./kinds/breaker-panel.ts";
import { countersPanel } from "./kinds/counters-panel.ts";
import { fleetPanel } from "./kinds/fleet-panel.ts";
import { limiterPanel } from "./kinds/limiter-panel.ts";
import { lockPanel } from "./kinds/lock-panel.ts";
import type { Panel, PanelMaker } from "./kinds/panel.ts";
import { queuePanel } from "./kinds/queue-panel.ts";
import { semaphorePanel } from "./kinds/semaphore-panel.ts";
import { seriesGroupPanel } from "./kinds/series-group-panel.ts";
import { settingsPanel } from "./kinds/settings-panel.ts";
import { loginForm } from "./login.ts";
import { HealthStrip } from "./overview/health-strip.ts";
import { OverviewPage } from "./overview/overview.ts";
import { ProcessList } from "./parts/process-list.ts";
import { seriesPanel } from "./series/series-panel.ts";
import { ask, Live, login, type PageOverview, TokenNeeded } from "./server.ts";
import { themeButton } from "./theme.ts";

const strip = new HealthStrip();
const main = h("main", { id: "main", tabindex: "-1" });
const RETRY_MS = 2000;

let overview: PageOverview | undefined;
let list: OverviewPage | undefined;
let open: { id: string; panel: Panel } | undefined;
let retry = 0;
/** Stands in the address instead of the id of a structure. No structure has this id. */
const PROCESSES = "processes";

const live = new Live({
  health(health) {
    const isBack = overview?.health.state === "down" && health.state === "up";
    if (overview) overview = { ...overview, health };
    strip.show(health);
    if (isBack) void load();
  },
  rows: (rows) => list?.numbers(rows),
  changed: () => void load(),
  reached(isReached) {
    if (!isReached) strip.unreached();
    else if (!overview || overview.structures.length === 0) void load();
  },
  refused: loadLater,
});

/** Asks for the list of structures, and shows the route that the address names. */
async function load(): Promise<void> {
  clearTimeout(retry);
  try {
    overview = await ask<PageOverview>("overview");
    strip.show(overview.health);
    list?.show(overview);
    open?.panel.overview?.(overview);
    show();
    live.open();
  } catch (error) {
    if (error instanceof TokenNeeded) return; // the form asks for it
    strip.unreached();
    loadLater();
  }
}

function loadLater(): void {
  clearTimeout(retry);
  retry = window.setTimeout(() => void load(), RETRY_MS);
}

/** Nothing is asked for until the token is right. */
function showLogin(): void {
  clearTimeout(retry);
  live.close();
  strip.reached();
  if (main.querySelector(".login")) return;
  closePanel();
  closeList();
  overview = undefined;
  document.title = "oriel";
  main.replaceChildren(loginForm(() => void load()));
}

function show(): void {
  if (!overview) return;
  const { kind, name, isProcesses } = routeNow();
  if (isProcesses) {
    showProcesses(overview);
    return;
  }
  if (kind === undefined || name === undefined) {
    showList(overview);
    return;
  }
  const entry = overview.structures.find(
    (each) => each.kind === kind && (each.name === name || `~${each.id}` === name),
  );
  if (entry) {
    showPanel(entry, overview);
    return;
  }
  closePanel();
  closeList();
  document.title = "oriel";
  main.replaceChildren(
    backLink(),
    h("h1", { class: "title" }, name.slice(0, 200)),
    h("p", {}, `No process has announced this ${kind.slice(0, 50)} within the last days.`),
  );
}

function showList(known: PageOverview): void {
  closePanel();
  if (list) {
    list.update();
    return;
  }
  document.title = "oriel";
  list = new OverviewPage(known, () => list && live.show(list.visibleIds, list.spanMs));
  main.replaceChildren(list.element);
  list.update();
  live.show(list.visibleIds, list.spanMs);
}

function showPanel(entry: StructureEntry, known: PageOverview): void {
  closeList();
  if (open?.id === entry.id) {
    open.panel.update();
    return;
  }
  const panel = panelOf(entry.kind)(entry, known);
  const title = h(
    "h1",
    { class: "title", title: entry.name.slice(0, 1000) },
    entry.name === "" ? "(no name)" : entry.name,
  );
  const crumbs = h("div", { class: "crumbs" }, backLink(), h("span", { class: "kind" }, entry.kind));
  enter(entry.id, panel, entry.name, [crumbs, title]);
}

function showProcesses(known: PageOverview): void {
  closeList();
  if (open?.id === PROCESSES) return;
  const panel = processesPage(known, () => void load());
  enter(PROCESSES, panel, "Processes", [backLink(), h("h1", { class: "title" }, "Processes")]);
}

/** Shows a panel instead of the list or of another panel. */
function enter(id: string, panel: Panel, title: string, head: readonly HTMLElement[]): void {
  closePanel();
  open = { id, panel };
  document.title = `${title.slice(0, 60)} · oriel`;
  main.replaceChildren(...head, panel.element);
  panel.update();
  live.show([], 300_000);
  main.focus({ preventScroll: true });
  scrollTo(0, 0);
}

function closePanel(): void {
  open?.panel.close();
  open = undefined;
}

function closeList(): void {
  list?.close();
  list = undefined;
}

function backLink(): HTMLElement {
  return h("a", { href: "#/", class: "back" }, "← All structures");
}

addEventListener("hashchange", show);
addEventListener("oriel:route", show);
addEventListener("oriel:token", showLogin);
addEventListener("keydown", (event) => {
  const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test((event.target as Element).tagName);
  if (event.key !== "/" || isTyping || !list) return;
  event.preventDefault();
  list.focusSearch();
});

const brand = h("a", { href: "#/", class: "brand" }, "oriel");
const head = h("header", { class: "top" }, brand, strip.element, themeButton());
document.body.append(
  h("a", { href: "#main", class: "skip", click: skip }, "Skip to the content"),
  head,
  strip.alert,
  main,
);
setText(main, "Loading…");
void start();

/** The token may come with the address once. It does not stay there. */
async function start(): Promise<void> {
  const url = new URL(location.href);
  const token = url.searchParams.get("token");
  if (token !== null) {
    await login(token).catch(() => {}); // then the form asks for it
    url.searchParams.delete("token");
    history.replaceState(null, "", url);
  }
  await load();
}

function skip(event: Event): void {
  event.preventDefault();
  main.focus();
}

const PANELS: Readonly<Record<string, PanelMaker>> = {
  Series: seriesPanel,
  SeriesGroup: seriesGroupPanel,
  Limiter: limiterPanel,
  DelayQueue: queuePanel,
  Breaker: breakerPanel,
  Counters: countersPanel,
  FleetMetrics: fleetPanel,
  Lock: lockPanel,
  ReadWriteLock: lockPanel,
  Semaphore: semaphorePanel,
  MultiSemaphore: semaphorePanel,
};

/** A kind without a panel of its own shows its settings. */
export function panelOf(kind: string): PanelMaker {
  return PANELS[kind] ?? settingsPanel;
}

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
