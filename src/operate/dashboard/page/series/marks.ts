import { when } from "../../../format.ts";
import type { ProcessEntry } from "../../protocol.ts";
import { h } from "../dom.ts";
import type { PageOverview } from "../server.ts";
import { type Mark, setMarks, stateNow } from "./view-state.ts";

/** Processes that started within this time are one mark: a deploy restarts many. */
const TOGETHER_MS = 60_000;

/** Starts of processes, as a deploy makes them, with the version if it is a new one. */
export function foundMarks({ processes }: PageOverview): Mark[] {
  const started = processes.filter(({ startedMs }) => startedMs > 0).sort((a, b) => a.startedMs - b.startedMs);
  const groups: ProcessEntry[][] = [];
  for (const process of started) {
    const last = groups.at(-1);
    if (last && process.startedMs - last.at(-1)!.startedMs < TOGETHER_MS) last.push(process);
    else groups.push([process]);
  }
  const seen = new Set<string>();
  return groups.map((group) => {
    const fresh = [...new Set(group.map(({ version }) => version))].filter((version) => !seen.has(version));
    for (const version of fresh) seen.add(version);
    const what = group.length === 1 ? `${group[0]!.id} started` : `${group.length} processes started`;
    const version = fresh.length > 0 && seen.size > fresh.length ? `, oriel ${fresh.join(", ")}` : "";
    return { atMs: group[0]!.startedMs, text: what + version, isFound: true };
  });
}

/** The marks inside the window, in the order of their numbers on the charts, and a form that adds one. */
export class MarksSection {
  readonly element: HTMLElement;
  readonly #list = h("ol", { class: "marks" });
  readonly #text = h("input", { id: "mark-text", type: "text", maxlength: "80", placeholder: "deploy 1.4.2" });
  readonly #at = h("input", { id: "mark-at", type: "datetime-local", step: "1" });

  constructor() {
    const add = (event: Event) => {
      event.preventDefault();
      const atMs = this.#at.value === "" ? Date.now() : new Date(this.#at.value).getTime();
      if (Number.isNaN(atMs)) return;
      setMarks([...stateNow().marks, { atMs, text: this.#text.value.trim() || "mark" }]);
      this.#text.value = "";
    };
    this.element = h(
      "section",
      { class: "card", "aria-labelledby": "marks-title" },
      h("h2", { id: "marks-title" }, "Marks"),
      this.#list,
      h(
        "form",
        { class: "field", submit: add },
        h("label", { for: "mark-text" }, "Note"),
        this.#text,
        h("label", { for: "mark-at" }, "Time, now if empty"),
        this.#at,
        h("button", { type: "submit" }, "Add a mark"),
      ),
      h(
        "p",
        { class: "hint" },
        "Marks are part of this page's address. Starts of processes are added from the registry.",
      ),
    );
  }

  show(marks: readonly Mark[]): void {
    const own = stateNow().marks;
    const remove = (mark: Mark) => setMarks(own.filter((each) => each.atMs !== mark.atMs || each.text !== mark.text));
    this.#list.replaceChildren(
      ...marks.map((mark) =>
        h(
          "li",
          {},
          h("time", {}, when(mark.atMs)),
          ` ${mark.text} `,
          !mark.isFound &&
            h(
              "button",
              {
                type: "button",
                class: "quiet",
                "aria-label": `Remove the mark ${mark.text}`,
                click: () => remove(mark),
              },
              "Remove",
            ),
        ),
      ),
    );
    this.#list.hidden = marks.length === 0;
  }
}
