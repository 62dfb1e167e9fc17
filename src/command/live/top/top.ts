import { emitKeypressEvents } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { argumentError, OrielError } from "../../../base/errors.ts";
import { durationMs } from "../../../base/time.ts";
import type { Duration } from "../../../entries/index.ts";
import { Answers } from "../../../operate/dashboard/answers.ts";
import { dashboardSettings } from "../../../operate/dashboard/options.ts";
import type { StoreHealth } from "../../../operate/doctor/health/store-health.ts";
import { Scope } from "../../../operate/kinds/scope.ts";
import { settingsText } from "../../../operate/kinds/settings-text.ts";
import { openStore } from "../../config/open-store.ts";
import type { ServerTyped } from "../../config/redis-client.ts";
import { colorsFor, Output, type Streams, widthOf } from "../../output.ts";
import { typedDuration } from "../../replay/options.ts";
import { jsonLine, oneLine } from "../../text/safe-text.ts";
import { cut, tableLines } from "../columns.ts";
import { kindOf, matcherOf } from "../find.ts";
import { EMPTY } from "../ls.ts";
import { readingLines, readingOf } from "../readings.ts";
import { Screen, stopAtSignals } from "../screen.ts";
import { columnsOf, frameLines, healthLine, pageOf, pageRowsOf } from "./frame.ts";
import { type Row, Rows } from "./rows.ts";
import { afterKey, FIRST_STATE, isByNumber, type Key, ordered, type TopState } from "./state.ts";

export interface TopTyped extends ServerTyped {
  kind?: string;
  span: string;
  every: string;
  once?: boolean;
  json?: boolean;
}

type Terminal = Streams["stdin"] & { isTTY?: boolean; setRawMode?(isRaw: boolean): void };

/** Shows all structures with their numbers, live. Resolves to 0, or with `--once` to 1 if one could not be read. */
export async function top(pattern: string | undefined, typed: TopTyped, streams: Streams): Promise<number> {
  const everyMs = durationMs("--every", typedDuration(typed.every) as Duration, 100, 86_400_000);
  const spanMs = durationMs("--span", typedDuration(typed.span) as Duration);
  const kind = kindOf(typed.kind);
  const isOnce = typed.once ?? false;
  if (typed.json && !isOnce) throw argumentError("--json", true, "given together with --once");
  if (!isOnce && (streams.stdout.isTTY !== true || (streams.stdin as Terminal).isTTY !== true))
    throw new OrielError("ARGUMENT", "oriel top needs a terminal; --once prints the structures to a pipe or a file");
  const store = openStore(typed, { onWarning: () => {} });
  const matches = matcherOf(pattern);
  const scope = new Scope(store, dashboardSettings({}));
  const answers = new Answers(scope);
  const rows = new Rows(answers, spanMs, (each) => (!kind || each.kind === kind) && matches(each.name));
  try {
    await rows.list();
    if (isOnce) return await printOnce(rows, typed.json ?? false, streams);
    await new Top(rows, streams, everyMs).run();
    return 0;
  } finally {
    await scope.close();
    await store.close();
  }
}

/** The loop of the live screen. A key redraws at once, by the numbers that were read last. */
class Top {
  readonly #rows: Rows;
  readonly #everyMs: number;
  readonly #stdin: Terminal;
  readonly #stdout: Streams["stdout"];
  readonly #screen: Screen;
  readonly #colors: ReturnType<typeof colorsFor>;
  readonly #stop = new AbortController();
  #state: TopState = FIRST_STATE;
  #wake = new AbortController();
  #failure = "";
  #known = { nowMs: 0, processes: 0 };
  #health: StoreHealth | undefined;
  /** The lines about the row that is shown alone. */
  #detail: { id: string; lines: () => string[] } | undefined;

  constructor(rows: Rows, streams: Streams, everyMs: number) {
    this.#rows = rows;
    this.#everyMs = everyMs;
    this.#stdin = streams.stdin;
    this.#screen = new Screen(new Output(streams.stdout), streams.stdout);
    this.#colors = colorsFor(streams.stdout);
    this.#stdout = streams.stdout;
  }

  async run(): Promise<void> {
    const ignoreSignals = stopAtSignals(this.#stop);
    const onKey = (_text: string | undefined, key: Key) => this.#press(key);
    const onResize = () => this.#redraw();
    emitKeypressEvents(this.#stdin);
    this.#stdin.setRawMode?.(true);
    this.#stdin.on("keypress", onKey).resume();
    this.#stdout.on("resize", onResize);
    try {
      await this.#loop();
    } finally {
      this.#stdin.removeListener("keypress", onKey);
      this.#stdout.removeListener("resize", onResize);
      this.#stdin.setRawMode?.(false);
      this.#stdin.pause();
      await this.#screen.close();
      ignoreSignals();
    }
  }

  async #loop(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      this.#wake = new AbortController();
      const nextMs = performance.now() + this.#everyMs;
      const health = this.#readHealth();
      // Without the registry, the rows are read all the same, and say why they have no numbers.
      const listed = await this.#try(() => this.#list());
      const read = await this.#try(() => (this.#state.isDetail ? this.#readDetail() : this.#readRows()));
      this.#failure = listed || read;
      await health;
      if (this.#stop.signal.aborted) return;
      this.#redraw();
      const signal = AbortSignal.any([this.#stop.signal, this.#wake.signal]);
      await pause(Math.max(0, nextMs - performance.now()), undefined, { signal }).catch(() => {});
    }
  }

  /** Resolves to the text of the error, or to "". */
  async #try(job: () => Promise<void>): Promise<string> {
    try {
      await job();
      return "";
    } catch (error) {
      return oneLine(String(Object(error).message ?? error));
    }
  }

  async #list(): Promise<void> {
    await this.#rows.list();
    const { nowMs, processes } = await this.#rows.answers.scope.registry();
    this.#known = { nowMs, processes: processes.length };
  }

  /** Never rejects. */
  async #readHealth(): Promise<void> {
    this.#health = await this.#rows.answers.health.read();
  }

  /** Reads the rows on the screen first. An order by numbers needs those of all rows, since any may be the first. */
  async #readRows(): Promise<void> {
    const page = this.#page();
    const others = isByNumber(this.#state) ? this.#ordered().filter((row) => !page.includes(row)) : [];
    await this.#rows.read([...page, ...others], AbortSignal.any([this.#stop.signal, this.#wake.signal]));
  }

  #ordered(): Row[] {
    return ordered(this.#rows.all, this.#state);
  }

  #page(): Row[] {
    return pageOf(this.#ordered(), this.#state, this.#screen);
  }

  #press(key: Key): void {
    const before = this.#page().map(({ structure }) => structure.id);
    const next = afterKey(this.#state, key, this.#ordered(), pageRowsOf(this.#screen));
    if (!next) {
      this.#stop.abort();
      return;
    }
    const isOther = next.isDetail !== this.#state.isDetail || isByNumber(next) !== isByNumber(this.#state);
    this.#state = next;
    this.#redraw();
    // Rows that come onto the screen are read at once.
    if (isOther || this.#page().some(({ structure }) => !before.includes(structure.id))) this.#wake.abort();
  }

  async #readDetail(): Promise<void> {
    const structure = this.#ordered().find((row) => row.structure.id === this.#state.selected)?.structure;
    if (!structure) return;
    const { answers, spanMs } = this.#rows;
    const reading = await readingOf(answers.scope, structure, { spanMs, percentiles: [99] });
    const lines = () => readingLines(structure, reading, this.#screen.columns, this.#colors);
    this.#detail = { id: structure.id, lines };
  }

  #redraw(): void {
    if (this.#stop.signal.aborted) return;
    void this.#screen.draw(this.#state.isDetail ? this.#detailLines() : this.#overviewLines());
  }

  #detailLines(): string[] {
    const { columns } = this.#screen;
    const lines = this.#detail?.id === this.#state.selected ? this.#detail.lines() : [cut("reading ...", columns)];
    const foot =
      this.#failure === ""
        ? this.#colors.dim(cut("Esc back · q quit", columns))
        : this.#colors.red(cut(this.#failure, columns));
    return [...lines.slice(0, this.#screen.rows - 2), "", foot];
  }

  #overviewLines(): string[] {
    const about = { ...this.#known, spanMs: this.#rows.spanMs, failure: this.#failure, health: this.#health };
    return frameLines(this.#ordered(), this.#state, this.#screen, about, this.#colors);
  }
}

/** Prints the health of the store and all structures. Resolves to 0, or to 1 if a structure could not be read. */
async function printOnce(rows: Rows, isJson: boolean, { stdout }: Streams): Promise<number> {
  const { scope, health: reader } = rows.answers;
  const health = await reader.read();
  await rows.read(rows.all);
  const output = new Output(stdout);
  const all = ordered(rows.all, FIRST_STATE);
  const colors = colorsFor(stdout);
  if (isJson) await output.write([{ health }, ...all.map(jsonOf)].map(jsonLine).join(""));
  else {
    const width = widthOf(stdout);
    await output.write(`${healthLine(health, width ?? Number.POSITIVE_INFINITY, colors)}\n`);
    const [head = "", ...lines] = tableLines(columnsOf(all, await scope.nowMs(), colors), width);
    const table = [colors.bold(head), ...lines].map((line) => `${line}\n`).join("");
    await output.write(all.length === 0 ? EMPTY : table);
  }
  return all.some(({ numbers }) => numbers?.error !== undefined) ? 1 : 0;
}

function jsonOf({ structure, numbers = {} }: Row): Record<string, unknown> {
  const { rate = null, p99 = null, denied = null, lag: lagMs = null, isBad = false, error: failure } = numbers;
  const { kind, name, processes, seenMs, conflict, settings } = structure;
  const state = failure === undefined ? (numbers.state ?? settingsText(settings)) : null;
  const others = { ...(conflict && { conflict }), ...(failure !== undefined && { failure }) };
  return { kind, name, rate, p99, denied, lagMs, state, isBad, processes, seenMs, ...others };
}
