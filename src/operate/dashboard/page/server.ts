import type { HealthEntry, Overview, RowNumbers } from "../protocol.ts";

export type PageOverview = Overview & { form: string };

/** The server wants the token. */
export class TokenNeeded extends Error {}

/** Asks the server. Rejects with its message. */
export async function ask<T>(path: string, query: Record<string, string | number | undefined> = {}): Promise<T> {
  return answered(await fetch(addressOf(path, query)));
}

/** Does an action. `form` is the secret that came with the overview. */
export async function act<T>(query: Record<string, string>, form: string): Promise<T> {
  return answered(await fetch(addressOf("action", query), { method: "POST", headers: { "X-Oriel-Form": form } }));
}

/** Rejects if this is not the token. */
export async function login(token: string): Promise<void> {
  const { ok } = await fetch("api/login", { method: "POST", headers: { "X-Oriel-Token": token } });
  if (!ok) throw new TokenNeeded("this is not the token");
}

/** The address of a part as a file. */
export function addressOf(path: string, query: Record<string, string | number | undefined>): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === "" ? [] : [[name, String(value)]],
  );
  return `api/${path}?${new URLSearchParams(given)}`;
}

/** A refusal for want of the token is also the event "oriel:token", because then the whole page needs it. */
async function answered<T>(response: Response): Promise<T> {
  if (response.ok) return (await response.json()) as T;
  // A proxy in front of the dashboard may answer with a page of its own.
  const { error } = (await response.json().catch(() => ({}))) as { error?: string };
  if (response.status !== 401) throw new Error(error ?? `the server answered ${response.status}`);
  dispatchEvent(new Event("oriel:token"));
  throw new TokenNeeded(error);
}

export interface Listener {
  health(health: HealthEntry): void;
  rows(rows: Record<string, RowNumbers>): void;
  changed(): void;
  /** The dashboard itself does not answer, or answers again. */
  reached(isReached: boolean): void;
  /** The server answered with an error, after which a browser never connects again: `open` does. */
  refused(): void;
}

/** One stream at a time. It names the rows on the screen, and is opened again when they change. */
export class Live {
  readonly #listener: Listener;
  #source: EventSource | undefined;
  #asked = "";
  #timer = 0;

  constructor(listener: Listener) {
    this.#listener = listener;
    addEventListener("visibilitychange", () => this.#connect(this.#asked));
  }

  /** Waits until the rows have been the same for a moment, as they are not during a scroll. */
  show(ids: readonly string[], spanMs: number): void {
    const asked = addressOf("stream", { rows: [...ids].sort().join(","), span: spanMs });
    if (asked === this.#asked) return;
    this.#asked = asked;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#connect(asked), this.#source ? 150 : 0);
  }

  /** Connects again if there is no stream. */
  open(): void {
    if (!this.#source) this.#connect(this.#asked);
  }

  /** Ends the stream until `open` is called, or other rows are shown. */
  close(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
  }

  #connect(asked: string): void {
    this.close();
    if (document.hidden || asked === "") return;
    const source = new EventSource(asked);
    this.#source = source;
    const on = (name: string, take: (data: never) => void) =>
      source.addEventListener(name, ({ data }) => take(JSON.parse(data as string) as never));
    on("health", (health) => this.#listener.health(health));
    on("rows", (rows) => this.#listener.rows(rows));
    on("changed", () => this.#listener.changed());
    source.addEventListener("open", () => this.#listener.reached(true));
    source.addEventListener("error", () => {
      this.#listener.reached(false);
      if (source.readyState !== EventSource.CLOSED || source !== this.#source) return;
      this.#source = undefined;
      this.#listener.refused();
    });
  }
}
