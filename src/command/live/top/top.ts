import { emitKeypressEvents } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { argumentError, OrielError } from "../../../base/errors.ts";
import { durationMs } from "../../../base/time.ts";
import type { Duration } from "../../../entries/index.ts";
import { HealthReader, type StoreHealth } from "../../../operate/doctor/health/store-health.ts";
import { lines } from "../../../operate/history/steps/lines.ts";
import { openStore } from "../../config/open-store.ts";
import type { ServerTyped } from "../../config/server-typed.ts";
import { Output } from "../../output.ts";
import { typedDuration } from "../../replay/options.ts";
import type { Streams } from "../../streams.ts";
import { colorsFor, widthOf } from "../../terminal.ts";
import { jsonLine } from "../../text/json-line.ts";
import { oneLine } from "../../text/safe-text.ts";
import { cut, tableLines } from "../columns.ts";
import { kindOf } from "../find.ts";
import { matcherOf } from "../glob.ts";
import { EMPTY } from "../ls.ts";
import { readingLines } from "../reading-lines.ts";
import { Screen, stopAtSignals } from "../screen.ts";
import { columnsOf, frameLines, pageOf, pageRowsOf } from "./frame.ts";
import { healthLine } from "./health-line.ts";
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

/** The registry is read anew this often, and so that it takes a twentieth of the time. */
const LIST_MS = 250;
const LIST_SHARE = 20;

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
  const options = { spanMs, percentiles: [99] };
  const rows = new Rows(store, options, (each) => (!kind || each.kind === kind) && matches(each.name));
  // The step reads the time, and writes nothing.
  const serverNowMs = async () =>
    (await store.run(lines, store.keyOf("registry"), { line: "", isWanted: false })).nowMs;
  const health = new HealthReader(store, serverNowMs);
  try {
    await rows.list();
    if (isOnce) return await printOnce(rows, await health.read(), typed.json ?? false, streams);
    await new Top(rows, health, streams, everyMs).run();
    return 0;
  } finally {
    await rows.close();
    await store.close();
  }
}

/** The loop of the live screen. A key redraws at once, by the numbers that were read last. */
class Top {
  readonly #rows: Rows;
  readonly #healthReader: HealthReader;
  readonly #everyMs: number;
  readonly #stdin: Terminal;
  readonly #stdout: Streams["stdout"];
  readonly #screen: Screen;
  readonly #colors: ReturnType<typeof colorsFor>;
  readonly #stop = new AbortController();
  #state: TopState = FIRST_STATE;
  #wake = new AbortController();
  #failure = "";
  #health: StoreHealth | undefined;
  /** The lines about the row that is shown alone. */
  #detail: { key: string; open: ReturnType<Rows["open"]>; lines: () => string[] } | undefined;

  constructor(rows: Rows, health: HealthReader, streams: Streams, everyMs: number) {
    this.#rows = rows;
    this.#healthReader = health;
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
      await this.#closeDetail();
    }
  }

  async #loop(): Promise<void> {
    let listedMs = performance.now();
    let keptMs = LIST_MS;
    while (!this.#stop.signal.aborted) {
      this.#wake = new AbortController();
      const nextMs = performance.now() + this.#everyMs;
      const health = this.#readHealth();
      try {
        const beganMs = performance.now();
        if (beganMs - listedMs >= keptMs) {
          await this.#rows.list();
          listedMs = performance.now();
          keptMs = Math.max(LIST_MS, LIST_SHARE * (listedMs - beganMs));
        }
        await (this.#state.isDetail ? this.#readDetail() : this.#readRows());
        this.#failure = "";
      } catch (error) {
        this.#failure = oneLine(String(Object(error).message ?? error));
      }
      await health;
      if (this.#stop.signal.aborted) return;
      this.#redraw();
      const signal = AbortSignal.any([this.#stop.signal, this.#wake.signal]);
      await pause(Math.max(0, nextMs - performance.now()), undefined, { signal }).catch(() => {});
    }
  }

  /** Never rejects. */
  async #readHealth(): Promise<void> {
    this.#health = await this.#healthReader.read();
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
    const before = this.#page().map((row) => row.key);
    const next = afterKey(this.#state, key, this.#ordered(), pageRowsOf(this.#screen));
    if (!next) {
      this.#stop.abort();
      return;
    }
    const isOther = next.isDetail !== this.#state.isDetail || isByNumber(next) !== isByNumber(this.#state);
    this.#state = next;
    this.#redraw();
    // Rows that come onto the screen are read at once.
    if (isOther || this.#page().some((row) => !before.includes(row.key))) this.#wake.abort();
  }

  async #readDetail(): Promise<void> {
    const row = this.#ordered().find(({ key }) => key === this.#state.selected);
    if (!row) return;
    if (this.#detail?.key !== row.key) {
      await this.#closeDetail();
      this.#detail = { key: row.key, open: this.#rows.open(row), lines: () => [] };
    }
    const detail = this.#detail!;
    const reading = await detail.open.view.read();
    detail.lines = () => readingLines(detail.open.found, reading, this.#screen.columns, this.#colors);
  }

  async #closeDetail(): Promise<void> {
    await this.#detail?.open.view.close().catch(() => {});
    this.#detail = undefined;
  }

  #redraw(): void {
    if (this.#stop.signal.aborted) return;
    void this.#screen.draw(this.#state.isDetail ? this.#detailLines() : this.#overviewLines());
  }

  #detailLines(): string[] {
    const { columns } = this.#screen;
    const lines = this.#detail?.key === this.#state.selected ? this.#detail.lines() : [cut("reading ...", columns)];
    const foot =
      this.#failure === ""
        ? this.#colors.dim(cut("Esc back · q quit", columns))
        : this.#colors.red(cut(this.#failure, columns));
    return [...lines.slice(0, this.#screen.rows - 2), "", foot];
  }

  #overviewLines(): string[] {
    const about = {
      nowMs: this.#rows.registry.nowMs,
      processes: this.#rows.registry.processes.length,
      failure: this.#failure,
      health: this.#health,
    };
    return frameLines(this.#ordered(), this.#state, this.#screen, about, this.#colors);
  }
}

/** Prints the health of the store and all structures. Resolves to 0, or to 1 if a structure could not be read. */
async function printOnce(rows: Rows, health: StoreHealth, isJson: boolean, { stdout }: Streams): Promise<number> {
  await rows.read(rows.all);
  const output = new Output(stdout);
  const all = ordered(rows.all, FIRST_STATE);
  const colors = colorsFor(stdout);
  if (isJson) await output.write([{ health }, ...all.map(jsonOf)].map(jsonLine).join(""));
  else {
    const width = widthOf(stdout);
    await output.write(`${healthLine(health, width ?? Number.POSITIVE_INFINITY, colors)}\n`);
    const [head = "", ...lines] = tableLines(columnsOf(all, rows.registry.nowMs, colors), width);
    const table = [colors.bold(head), ...lines].map((line) => `${line}\n`).join("");
    await output.write(all.length === 0 ? EMPTY : table);
  }
  return all.some(({ failure }) => failure !== undefined) ? 1 : 0;
}

function jsonOf({ kind, name, structure, overview, failure }: Row): Record<string, unknown> {
  const { rate = null, p99 = null, denied = null, lagMs = null, state = null, isBad = false } = overview ?? {};
  const { processes, seenMs, conflict } = structure;
  const others = { ...(conflict && { conflict }), ...(failure !== undefined && { failure }) };
  return { kind, name, rate, p99, denied, lagMs, state, isBad, processes, seenMs, ...others };
}
