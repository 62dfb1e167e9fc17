import { once } from "node:events";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { clearLine, cursorTo } from "node:readline";
import type { Readable } from "node:stream";
import type { WriteStream } from "node:tty";
import { Presets, SingleBar } from "cli-progress";
import { OrielError } from "../../base/errors.ts";
import { openStore } from "../config/open-store.ts";
import { OutcomeReader } from "../formats/outcome-reader.ts";
import type { Choice } from "../formats/reading.ts";
import { colorsFor, Output, type Streams, widthOf } from "../output.ts";
import { checkPictureFile } from "../plot/picture-file.ts";
import { PlotPoints } from "../plot/plot-points.ts";
import { unitGuess, valueNameOf, writePlot } from "../plot/write-plot.ts";
import { oneLine, safeText } from "../text/safe-text.ts";
import type { ReplayOptions } from "./options.ts";
import { Recorder } from "./recorder.ts";
import { BadLines, ReplayRun } from "./replay-run.ts";
import { JsonWriter, TableWriter } from "./row-writers.ts";
import { WindowSchedule } from "./schedule.ts";

/**
 * Replays a file. Prints rows on stdout as event time advances, and bad lines and a summary on stderr. Resolves to the
 * exit status: 0 if every line was read and no key was skipped, else 1. Rejects with OrielError or the system's error.
 */
export async function replay(options: ReplayOptions, streams: Streams): Promise<number> {
  if (options.plot !== undefined) await checkPictureFile(options.plot);
  const source = await openSource(options.file, streams.stdin);
  const clock = { nowMs: 0 };
  const store = openStore(options, { clock: () => clock.nowMs });
  const recorder = new Recorder(store, options);
  const { stderr } = streams;
  const isBarShown = stderr.isTTY === true && source.sizeBytes !== null;
  const progress = isBarShown ? new Progress(stderr as WriteStream, source.sizeBytes as number) : null;
  try {
    await recorder.probe();
    const badLines = new BadLines();
    const points = options.plot === undefined ? null : new PlotPoints();
    const output = new Output(streams.stdout);
    const colors = colorsFor(streams.stdout);
    const writer = options.json
      ? new JsonWriter(options.percentiles)
      : new TableWriter(options.percentiles, options.selection.key !== undefined, colors, widthOf(streams.stdout));
    const run = new ReplayRun(options, new WindowSchedule(options), recorder, badLines, clock, async (rows) => {
      points?.add(rows);
      progress?.hide();
      await output.write(writer.lines(rows));
    });

    const reader = new OutcomeReader(options.format, options.selection, source.sizeBytes === null);
    let isChoiceDue = !options.json;
    reading: for await (const outcomes of reader.read(textOf(options.file, source.chunks))) {
      if (isChoiceDue && outcomes.length > 0) {
        progress?.hide();
        stderr.write(choiceText(options, reader.choice));
        isChoiceDue = false;
      }
      for (const outcome of outcomes) {
        await run.take(outcome);
        if (output.isClosed && points === null) break reading; // a picture is of the whole input
      }
      progress?.update(source.chunks.bytesRead ?? 0);
    }
    if (!output.isClosed || points !== null) await run.finish();
    progress?.stop();
    if (points !== null) await writePlot(options, points, reader.choice);
    const choice = options.json ? choiceText(options, reader.choice) : "";
    stderr.write(badLines.text() + recorder.skipped.text() + choice + run.summary(reader.lineCount));
    return badLines.count + recorder.skipped.count > 0 ? 1 : 0;
  } finally {
    progress?.stop();
    source.chunks.destroy();
    await recorder.close();
    await store.close();
  }
}

/** One line that says as what the input is read, and what was guessed. */
function choiceText(options: ReplayOptions, choice: Choice | undefined): string {
  if (choice?.time === undefined) return "";
  const { form, time, value, valueGuess, guesses = [] } = choice;
  const unit = options.plot === undefined ? [] : unitGuess(options, valueNameOf(choice));
  const guessed = [...guesses, ...(valueGuess === undefined ? [] : [`${valueGuess} (--value takes another)`]), ...unit];
  const why = guessed.length === 0 ? "" : `; guessed: ${guessed.join("; ")}`;
  return `oriel: read as ${form}: time ${oneLine(`${time}, value ${value}${why}`)}\n`;
}

/** A bar of the bytes read, on a terminal only. `hide` clears its line before rows go to the same terminal. */
class Progress {
  readonly #stream: WriteStream;
  readonly #bar: SingleBar;

  constructor(stream: WriteStream, sizeBytes: number) {
    this.#stream = stream;
    const format = "{bar} {percentage}%  {value}/{total} bytes  {eta_formatted} left";
    this.#bar = new SingleBar(
      { stream, format, clearOnComplete: true, hideCursor: true, fps: 8 },
      Presets.shades_classic,
    );
    this.#bar.start(sizeBytes, 0);
  }

  update(bytesRead: number): void {
    this.#bar.update(bytesRead);
  }

  hide(): void {
    cursorTo(this.#stream, 0);
    clearLine(this.#stream, 0);
  }

  stop(): void {
    this.#bar.stop();
  }
}

interface Source {
  readonly chunks: Readable & { readonly bytesRead?: number };
  /** null if unknown: standard input, a pipe. */
  readonly sizeBytes: number | null;
}

/** The bytes of a file, or of standard input for `-`. Rejects with the system's error if it cannot be opened. */
async function openSource(file: string, stdin: Readable): Promise<Source> {
  if (file === "-") return { chunks: stdin, sizeBytes: null };
  const chunks = createReadStream(file);
  await once(chunks, "open");
  const found = await stat(file);
  return { chunks, sizeBytes: found.isFile() ? found.size : null };
}

const GZIP = Buffer.from([0x1f, 0x8b]);
const UTF_16 = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])];

/** The chunks. Throws ARGUMENT if they are no UTF-8 text: compressed, UTF-16, or with a zero byte in the first line. */
async function* textOf(file: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const chunk of chunks) {
    const end = chunk.indexOf(0x0a);
    const firstLine = end < 0 ? chunk : chunk.subarray(0, end);
    const beginsWith = (bytes: Buffer) => bytes.equals(chunk.subarray(0, bytes.length));
    const is = `${file === "-" ? "the input" : safeText(file, 200)} is`;
    if (isFirst && UTF_16.some(beginsWith))
      throw new OrielError("ARGUMENT", `${is} UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8`);
    if (isFirst && (firstLine.includes(0) || beginsWith(GZIP)))
      throw new OrielError(
        "ARGUMENT",
        `${is} not text; it must be CSV, NDJSON or an access log in UTF-8, and not compressed`,
      );
    isFirst = false;
    yield chunk;
  }
}
