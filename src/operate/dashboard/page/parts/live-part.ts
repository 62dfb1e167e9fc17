import { h, setText } from "../dom.ts";
import { ask } from "../server.ts";

/** Between two questions. Long enough for a store with much to read. */
const REFRESH_MS = 2000;

interface PartOptions<Answer> {
  /** Of the structure. */
  readonly id: string;
  readonly part: string;
  readonly query?: () => Record<string, string | number>;
  readonly everyMs?: number;
  /** What shows the answer. It is asked for only while this is on the screen. */
  readonly element: HTMLElement;
  readonly show: (answer: Answer) => void;
}

/** A part whatever its answer is. */
export type Refreshed = Pick<LivePart<unknown>, "refresh" | "close">;

/** Asks for one part of a structure, again and again while it is on the screen. An equal answer changes nothing. */
export class LivePart<Answer> {
  readonly #options: PartOptions<Answer>;
  readonly #trouble = h("p", { class: "notice bad", role: "alert", hidden: true });
  readonly #observer: IntersectionObserver;
  #isSeen = false;
  #isClosed = false;
  #timer = 0;
  #request = 0;
  #shown = "";

  constructor(options: PartOptions<Answer>) {
    this.#options = options;
    options.element.prepend(this.#trouble);
    this.#observer = new IntersectionObserver((entries) => {
      this.#isSeen = entries.at(-1)!.isIntersecting;
      this.#later(0);
    });
    this.#observer.observe(options.element);
    addEventListener("visibilitychange", this.#onVisible);
  }

  /** Asks now, since something has changed. */
  refresh(): void {
    if (!this.#isClosed) void this.#load();
  }

  close(): void {
    this.#isClosed = true;
    this.#observer.disconnect();
    clearTimeout(this.#timer);
    removeEventListener("visibilitychange", this.#onVisible);
  }

  readonly #onVisible = (): void => this.#later(0);

  #later(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#isSeen && !this.#isClosed && !document.hidden)
      this.#timer = window.setTimeout(() => void this.#load(), ms);
  }

  async #load(): Promise<void> {
    const request = ++this.#request;
    const { id, part, query, everyMs = REFRESH_MS, show } = this.#options;
    let trouble = "";
    try {
      const answer = await ask<Answer>("part", { id, part, ...query?.() });
      if (request !== this.#request || this.#isClosed) return;
      const text = JSON.stringify(answer);
      if (text !== this.#shown) show(answer);
      this.#shown = text;
    } catch (error) {
      if (request !== this.#request || this.#isClosed) return;
      trouble = (error as Error).message;
    }
    this.#trouble.hidden = trouble === "";
    setText(this.#trouble, trouble);
    this.#later(everyMs);
  }
}
