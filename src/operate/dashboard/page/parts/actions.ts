import { counted, when } from "../../../format.ts";
import type { AuditEntry, StructureEntry } from "../../protocol.ts";
import { h, setText } from "../dom.ts";
import { act, ask, type PageOverview } from "../server.ts";
import { escaped, quoted } from "./quoted.ts";

const SHOWN = 50;
/** The list cuts longer names, and ends them with "…". */
const LOGGED_CHARACTERS = 200;

interface Choice {
  /** Its name on the server. */
  readonly action: string;
  readonly label: string;
  /** For screen readers, if the label alone does not name the target. */
  readonly description?: string;
  readonly target: string;
  readonly question: string;
  readonly yes: string;
  readonly isHarmless?: boolean;
  /** Further parameters. */
  readonly query?: Record<string, string>;
}

/** The actions that an operator may take on a structure, and those that were taken. */
export class Actions {
  readonly element: HTMLElement;
  readonly #structure: StructureEntry;
  readonly #form: string;
  readonly #onDone: () => void;
  readonly #answer = h("p", { role: "status", class: "hint" });
  readonly #log = h("ol", { class: "log" });

  constructor(structure: StructureEntry, { form, allowsActions }: PageOverview, onDone: () => void) {
    this.#structure = structure;
    this.#form = form;
    this.#onDone = onDone;
    this.element = h(
      "section",
      { class: "card", "aria-labelledby": "log-title" },
      h("h2", { id: "log-title" }, "Actions"),
      this.#answer,
      this.#log,
      !allowsActions &&
        h("p", { class: "hint" }, "This dashboard only reads. Start it with --allow-actions to act here."),
    );
    void this.#showLog().catch(() => {});
  }

  /** A button that asks first. Empty if the action is not offered. */
  button({ action, label, description, isHarmless, ...choice }: Choice): HTMLElement | "" {
    if (!this.#structure.actions.includes(action)) return "";
    const className = isHarmless ? "" : "danger";
    const click = () => void this.act(action, choice);
    return h("button", { type: "button", class: className, "aria-label": description, click }, label);
  }

  /** Asks, acts, and shows what came of it. */
  async act(
    action: string,
    { target, question, yes, query }: Pick<Choice, "target" | "question" | "yes" | "query">,
  ): Promise<void> {
    if (!(await confirmed(question, yes))) return;
    try {
      const done = await act<{ target: string }>({ ...query, id: this.#structure.id, action, target }, this.#form);
      setText(this.#answer, doneText(action, target, done.target));
    } catch (error) {
      setText(this.#answer, escaped((error as Error).message));
    }
    this.#onDone();
    await this.#showLog().catch(() => {});
  }

  async #showLog(): Promise<void> {
    const { kind, name } = this.#structure;
    const entries = await ask<AuditEntry[]>("audit");
    const lines = entries
      .filter((each) => each.kind === kind && isNamed(each.name, name))
      .slice(0, SHOWN)
      .map(lineOf);
    this.#log.replaceChildren(...(lines.length > 0 ? lines : [h("li", { class: "hint none" }, "Nothing yet.")]));
  }
}

function isNamed(logged: string, name: string): boolean {
  if (logged === name) return true;
  return logged.length > LOGGED_CHARACTERS && logged.endsWith("…") && name.startsWith(logged.slice(0, -1));
}

function lineOf(entry: AuditEntry): HTMLElement {
  const { atMs, target, by, outcome } = entry;
  return h(
    "li",
    {},
    h("time", { title: new Date(atMs).toISOString() }, when(atMs)),
    ` ${actionWords(entry)} `,
    h("code", {}, target),
    by !== null && h("span", {}, " by ", h("bdi", {}, by)),
    outcome !== undefined && h("span", { class: outcome === "failed" ? "bad" : "hint" }, ` – ${outcome}`),
  );
}

/** Asks before an action. Resolves to whether the operator agreed. Escape means no. */
function confirmed(question: string, yes: string): Promise<boolean> {
  return new Promise((resolve) => {
    let isAgreed = false;
    const end = (agreed: boolean) => {
      isAgreed = agreed;
      dialog.close();
    };
    const dialog = h(
      "dialog",
      { "aria-labelledby": "confirm-text" },
      h("p", { id: "confirm-text" }, question),
      h(
        "div",
        { class: "buttons" },
        h("button", { type: "button", autofocus: true, click: () => end(false) }, "Cancel"),
        h("button", { type: "button", class: "danger", click: () => end(true) }, yes),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(isAgreed);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** A sentence for each action that was done. The server names its effect. */
const DONE: Record<string, (changed: string) => string> = {
  redrive: (id) => `The dead message ${quoted(id)} is due now.`,
  redriveAll: (changed) => {
    const count = Number.parseInt(changed, 10);
    return `${counted(count, "dead message")} ${count === 1 ? "is" : "are"} due now.`;
  },
  cancel: (id) => `The message ${quoted(id)} was removed.`,
  pause: () => "The queue is paused. Workers claim no message.",
  resume: () => "The queue goes on. Workers claim messages again.",
  reset: (id) =>
    id === ""
      ? "The circuit is a new one: closed, without counts and orders."
      : `The counts, block and reservations of ${quoted(id)} were deleted.`,
  block: (id) => `Every call of ${quoted(id)} is denied.`,
  open: (changed) => `The circuit is open ${changed}.`,
  close: (changed) => `The circuit is closed, ${changed}.`,
  release: (hold) => `The lock was released. It was ${hold}.`,
  rebase: (changed) => `The shards continue from their table: ${changed}.`,
};

/** `target` is what the operator chose, `changed` what the server says. */
function doneText(action: string, target: string, changed: string): string {
  const text = DONE[action];
  const named = ["redrive", "cancel", "reset", "block"].includes(action) ? target : changed;
  return text ? text(named) : `The action ${action} was done: ${quoted(changed)}.`;
}

/** "redriveAll" as "redrive all". */
function actionWords({ action }: Pick<AuditEntry, "action">): string {
  return action.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
