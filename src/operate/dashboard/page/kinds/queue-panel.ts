import { age, when, whole } from "../../../format.ts";
import type { PayloadText, QueueMessage, QueueState } from "../../parts.ts";
import type { StructureEntry } from "../../protocol.ts";
import { h, setText } from "../dom.ts";
import { DELIVERIES, OutcomesView } from "../history/outcomes-view.ts";
import { QueueTimingsView } from "../history/queue-timings-view.ts";
import { Actions } from "../parts/actions.ts";
import { card } from "../parts/card.ts";
import { Facts } from "../parts/facts.ts";
import { LivePart, type Refreshed } from "../parts/live-part.ts";
import { quoted } from "../parts/quoted.ts";
import { RowsTable, type TableColumn } from "../parts/rows-table.ts";
import { SaveLinks } from "../parts/save-links.ts";
import type { PageOverview } from "../server.ts";
import type { Panel, PanelMaker } from "./panel.ts";
import { settingsSection } from "./settings-panel.ts";

/** More are shown on demand, this many at a time. */
const PAGE = 25;
const MAX_DEAD = 1000;
/** Whole messages are read, so the lists are renewed less often than the counts. */
const LISTS_MS = 5000;

export const queuePanel: PanelMaker = (structure, overview) => new QueuePanel(structure, overview);

/** How many messages wait, the next ones, and the dead ones. */
class QueuePanel implements Panel {
  readonly element: HTMLElement;
  readonly #actions: Actions;
  readonly #parts: readonly Refreshed[];
  readonly #outcomes: OutcomesView;
  readonly #timings: QueueTimingsView;
  readonly #facts = new Facts("Messages by state");
  readonly #paused = h(
    "p",
    { class: "notice warn", role: "status", hidden: true },
    "Paused: workers claim no message.",
  );
  readonly #next: RowsTable<QueueMessage>;
  readonly #dead: RowsTable<QueueMessage>;
  readonly #noneNext = h("p", { class: "hint" }, "Loading…");
  readonly #noneDead = h("p", { class: "hint" }, "Loading…");
  readonly #redriveAll = h("div", { class: "buttons" });
  readonly #pausing = h("div", { class: "buttons" });
  readonly #more = h(
    "button",
    { type: "button", class: "quiet", hidden: true, click: () => this.#showMore() },
    "Show more",
  );
  readonly #saveDead = new SaveLinks("the dead letters", ["json"]);
  readonly #id: string;
  #deadCount = 0;
  #limit = PAGE;

  constructor(structure: StructureEntry, overview: PageOverview) {
    this.#id = structure.id;
    this.#actions = new Actions(structure, overview, () => this.#refresh());
    this.#next = new RowsTable("Next messages", this.#columns("Due", this.#nextButtons), ({ key }) => key);
    this.#dead = new RowsTable("Dead letters", this.#columns("Died", this.#deadButtons), ({ key }) => key);
    const state = h("section", { "aria-label": "State" }, this.#paused, this.#facts.element, this.#pausing);
    const { id } = structure;
    const saveNext = new SaveLinks("the next messages", ["json"]);
    saveNext.show({ id, part: "next", limit: PAGE });
    const next = card("next", "Next messages", [saveNext.element], this.#noneNext, this.#next.element);
    this.#saveDead.show({ id, part: "dead", limit: PAGE });
    const beside = h("div", { class: "buttons" }, this.#saveDead.element, this.#redriveAll);
    const dead = card("dead", "Dead letters", [beside], this.#noneDead, this.#dead.element, this.#more);
    this.#outcomes = new OutcomesView(structure.id, DELIVERIES);
    this.#timings = new QueueTimingsView(structure.id);
    this.element = h(
      "div",
      { class: "stack" },
      ...[state, this.#outcomes.element, next, dead, this.#actions.element],
      ...[this.#timings.element, settingsSection(structure)],
    );
    this.#parts = [
      new LivePart<QueueState>({ id, part: "state", element: state, show: (each) => this.#showState(each) }),
      new LivePart<QueueMessage[]>({
        ...{ id, part: "next", element: next, everyMs: LISTS_MS },
        query: () => ({ limit: PAGE }),
        show: (messages) => showRows(this.#next, this.#noneNext, messages, "No message waits."),
      }),
      new LivePart<QueueMessage[]>({
        ...{ id, part: "dead", element: dead, everyMs: LISTS_MS },
        query: () => ({ limit: this.#limit }),
        show: (messages) => this.#showDead(messages),
      }),
    ];
  }

  update(): void {
    this.#outcomes.update();
    this.#timings.update();
  }

  close(): void {
    this.#outcomes.close();
    this.#timings.close();
    for (const part of this.#parts) part.close();
  }

  #refresh(): void {
    for (const part of this.#parts) part.refresh();
  }

  #showState({ waiting, due, claimed, dead, isPaused, lagMs }: QueueState): void {
    if (this.#paused.hidden === isPaused || this.#pausing.children.length === 0)
      this.#pausing.replaceChildren(this.#pauseButton(isPaused));
    this.#paused.hidden = !isPaused;
    const count = (name: string, title: string, value: number) => ({ name, title, text: whole(value), value });
    this.#facts.show([
      { name: "lag", title: "Lag", text: lagMs === 0 ? "none" : age(lagMs), value: `${lagMs} ms` },
      count("due", "Due", due),
      count("waiting", "Waiting for their time", waiting),
      count("claimed", "Running", claimed),
      { ...count("dead", "Dead", dead), level: dead > 0 ? ("bad" as const) : undefined },
    ]);
    this.#deadCount = dead;
    this.#showDeadHead();
  }

  #showDead(messages: readonly QueueMessage[]): void {
    showRows(this.#dead, this.#noneDead, messages, "No message is dead.");
    this.#showDeadHead();
  }

  #showDeadHead(): void {
    this.#more.hidden = this.#deadCount <= this.#limit || this.#limit === MAX_DEAD;
    const hasButton = this.#redriveAll.children.length > 0;
    if (this.#deadCount > 0 && !hasButton) this.#redriveAll.append(this.#redriveAllButton());
    if (this.#deadCount === 0 && hasButton) this.#redriveAll.replaceChildren();
  }

  #showMore(): void {
    this.#limit = Math.min(MAX_DEAD, this.#limit + 4 * PAGE);
    this.#saveDead.show({ id: this.#id, part: "dead", limit: this.#limit });
    this.#refresh();
  }

  #pauseButton(isPaused: boolean): HTMLElement | "" {
    if (isPaused)
      return this.#actions.button({
        ...{ action: "resume", label: "Resume…", target: "", yes: "Resume", isHarmless: true },
        question: "Let the workers of all processes claim messages of this queue again?",
      });
    return this.#actions.button({
      ...{ action: "pause", label: "Pause…", target: "", yes: "Pause the queue" },
      question:
        "Let no worker of any process claim a message of this queue until it is resumed? Handlers that run now go on.",
    });
  }

  #redriveAllButton(): HTMLElement | "" {
    return this.#actions.button({
      action: "redriveAll",
      label: "Redrive all…",
      target: "",
      question: "Make all dead messages of this queue due now, with no deliveries counted? Their handlers run again.",
      yes: "Redrive all",
      isHarmless: true,
    });
  }

  readonly #nextButtons = ({ id }: QueueMessage): HTMLElement => h("div", { class: "buttons" }, this.#cancelButton(id));

  readonly #deadButtons = ({ id }: QueueMessage): HTMLElement =>
    h(
      "div",
      { class: "buttons" },
      this.#actions.button({
        action: "redrive",
        label: "Redrive…",
        description: `Redrive ${id}`,
        target: id,
        question: `Make the dead message ${quoted(id)} due now, with no deliveries counted? Its handler runs again.`,
        yes: "Redrive",
        isHarmless: true,
      }),
      this.#cancelButton(id),
    );

  #cancelButton(id: string): HTMLElement | "" {
    return this.#actions.button({
      action: "cancel",
      label: "Cancel…",
      description: `Cancel ${id}`,
      target: id,
      question: `Remove the message ${quoted(id)} from the queue? It cannot be restored.`,
      yes: "Remove the message",
    });
  }

  #columns(time: string, buttons: (message: QueueMessage) => HTMLElement): TableColumn<QueueMessage>[] {
    const isDead = time === "Died";
    return [
      { head: "Id", cell: ({ id }) => h("code", { class: "id", title: id }, id) },
      { head: time, cell: ({ atMs }) => h("time", { title: new Date(atMs).toISOString() }, when(atMs)) },
      { head: "Attempts", className: "number", cell: ({ attempt, attempts }) => `${attempt} of ${attempts}` },
      ...(isDead
        ? []
        : [{ head: "Priority", className: "number wide", cell: ({ priority }: QueueMessage) => `${priority}` }]),
      ...(isDead
        ? [{ head: "Error", cell: ({ error }: QueueMessage) => h("span", { class: "error" }, error ?? "") }]
        : []),
      { head: "Payload", cell: ({ payload }) => payloadCell(payload) },
      { head: "", cell: buttons },
    ];
  }
}

function showRows(
  table: RowsTable<QueueMessage>,
  none: HTMLElement,
  messages: readonly QueueMessage[],
  text: string,
): void {
  table.show(messages);
  table.element.hidden = messages.length === 0;
  none.hidden = messages.length > 0;
  setText(none, text);
}

const LINE_CHARACTERS = 80;

/** A payload on one line, which opens to the whole text. */
function payloadCell(payload: PayloadText | null): HTMLElement {
  if (!payload) return h("span", { class: "hint" }, "hidden");
  const { form, text, isCut } = payload;
  const line = text.replace(/\s+/g, " ");
  const isLong = line.length > LINE_CHARACTERS || isCut || (form === "text" && text.includes("\n"));
  const shown = h(
    "code",
    { class: "payload" },
    line.slice(0, LINE_CHARACTERS) + (line.length > LINE_CHARACTERS ? "…" : ""),
  );
  const tag = h("span", { class: `form ${form}` }, form);
  if (!isLong) return h("span", {}, tag, shown);
  return h(
    "details",
    {},
    h("summary", {}, tag, shown),
    h("pre", { tabindex: "0" }, isCut ? `${text}…` : text),
    isCut && h("p", { class: "hint" }, "The rest is not shown."),
  );
}
