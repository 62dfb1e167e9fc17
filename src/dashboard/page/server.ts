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

export async function login(token: string): Promise<void> {
  await answered(await fetch("api/login", { method: "POST", headers: { "X-Oriel-Token": token } }));
}

/** The address of a part as a file. */
export function addressOf(path: string, query: Record<string, string | number | undefined>): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === "" ? [] : [[name, String(value)]],
  );
  return `api/${path}?${new URLSearchParams(given)}`;
}

async function answered<T>(response: Response): Promise<T> {
  const body = (await response.json()) as T & { error?: string };
  if (response.status === 401) throw new TokenNeeded(body.error);
  if (!response.ok) throw new Error(body.error ?? `the server answered ${response.status}`);
  return body;
}

export interface Listener {
  health(health: HealthEntry): void;
  rows(rows: Record<string, RowNumbers>): void;
  changed(): void;
  /** The dashboard itself does not answer, or answers again. */
  reached(isReached: boolean): void;
}

/** One stream at a time. It names the rows on the screen, and is opened again when they change. */
export class Live {
  readonly #listener: Listener;
  #source: EventSource | undefined;
  #asked = "";
  #timer = 0;

  constructor(listener: Listener) {
    this.#listener = listener;
    addEventListener("visibilitychange", () => this.#open(this.#asked));
  }

  /** Waits until the rows have been the same for a moment, as they are not during a scroll. */
  show(ids: readonly string[], spanMs: number): void {
    const asked = addressOf("stream", { rows: [...ids].sort().join(","), span: spanMs });
    if (asked === this.#asked) return;
    this.#asked = asked;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#open(asked), this.#source ? 150 : 0);
  }

  #open(asked: string): void {
    this.#source?.close();
    this.#source = undefined;
    if (document.hidden || asked === "") return;
    const source = new EventSource(asked);
    this.#source = source;
    const on = (name: string, take: (data: never) => void) =>
      source.addEventListener(name, ({ data }) => take(JSON.parse(data as string) as never));
    on("health", (health) => this.#listener.health(health));
    on("rows", (rows) => this.#listener.rows(rows));
    on("changed", () => this.#listener.changed());
    source.addEventListener("open", () => this.#listener.reached(true));
    source.addEventListener("error", () => this.#listener.reached(false));
  }
}
