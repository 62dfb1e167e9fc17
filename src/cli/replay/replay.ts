import { open } from "node:fs/promises";
import type { WriteStream } from "node:tty";
import pc from "picocolors";
import { OutcomeReader } from "../formats/outcome-reader.ts";
import { openStore } from "../open-store.ts";
import { Output } from "../output.ts";
import { PlotPoints } from "../plot/plot-points.ts";
import { writePlot } from "../plot/write-plot.ts";
import type { Streams } from "../streams.ts";
import { BadLines } from "./bad-lines.ts";
import type { ReplayOptions } from "./options.ts";
import { Progress } from "./progress.ts";
import { Recorder } from "./recorder.ts";
import { ReplayRun } from "./replay-run.ts";
import { JsonWriter, TableWriter } from "./row-writers.ts";
import { WindowSchedule } from "./schedule.ts";
import { openSource } from "./source.ts";

/**
 * Replays a file. Prints rows on stdout as event time advances, and bad lines and a summary on stderr. Resolves to the
 * exit status: 0 if every line was read, else 1. Rejects with OrielError or the system's error.
 */
export async function replay(options: ReplayOptions, streams: Streams): Promise<number> {
  const source = await openSource(options.file, streams.stdin);
  // Fails now if the file cannot be written.
  if (options.plot !== undefined) await (await open(options.plot, "a")).close();
  const clock = { nowMs: 0 };
  const store = openStore(options.redis, options.prefix, { clock: () => clock.nowMs });
  const recorder = new Recorder(store, options);
  const { stderr } = streams;
  const isBarShown = stderr.isTTY === true && source.sizeBytes !== null;
  const progress = isBarShown ? new Progress(stderr as WriteStream, source.sizeBytes as number) : null;
  try {
    await recorder.probe();
    const badLines = new BadLines();
    const points = options.plot === undefined ? null : new PlotPoints();
    const output = new Output(streams.stdout);
    const colors = pc.createColors(streams.stdout.isTTY === true && pc.isColorSupported);
    const writer = options.json
      ? new JsonWriter(options.percentiles)
      : new TableWriter(options.percentiles, options.selection.key !== undefined, colors);
    const run = new ReplayRun(options, new WindowSchedule(options), recorder, badLines, clock, async (rows) => {
      points?.add(rows);
      progress?.hide();
      await output.write(writer.lines(rows));
    });

    const reader = new OutcomeReader(options.format, options.selection);
    reading: for await (const outcomes of reader.read(source.chunks)) {
      for (const outcome of outcomes) {
        await run.take(outcome);
        if (output.isClosed) break reading;
      }
      progress?.update(source.chunks.bytesRead ?? 0);
    }
    if (!output.isClosed) await run.finish();
    progress?.stop();
    if (points !== null) await writePlot(options, points, reader.valueName);
    stderr.write(badLines.text() + run.summary(reader.lineCount));
    return badLines.count > 0 ? 1 : 0;
  } finally {
    progress?.stop();
    source.chunks.destroy();
    await recorder.close();
    await store.close();
  }
}
