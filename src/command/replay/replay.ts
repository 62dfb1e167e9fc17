import { clearLine, cursorTo } from "node:readline";
import type { WriteStream } from "node:tty";
import { Presets, SingleBar } from "cli-progress";
import { openStore } from "../config/open-store.ts";
import { OutcomeReader } from "../formats/outcome-reader.ts";
import type { Choice } from "../formats/reading.ts";
import { Output } from "../output.ts";
import { checkPictureFile } from "../plot/picture-file.ts";
import { PlotPoints } from "../plot/plot-points.ts";
import { unitGuess, valueNameOf, writePlot } from "../plot/write-plot.ts";
import type { Streams } from "../streams.ts";
import { colorsFor, widthOf } from "../terminal.ts";
import { oneLine } from "../text/safe-text.ts";
import { BadLines } from "./bad-lines.ts";
import type { ReplayOptions } from "./options.ts";
import { Recorder } from "./recorder.ts";
import { ReplayRun } from "./replay-run.ts";
import { JsonWriter, TableWriter } from "./row-writers.ts";
import { WindowSchedule } from "./schedule.ts";
import { openSource, textOf } from "./source.ts";

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
