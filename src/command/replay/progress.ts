import { clearLine, cursorTo } from "node:readline";
import type { WriteStream } from "node:tty";
import { Presets, SingleBar } from "cli-progress";

/** A bar of the bytes read, on a terminal only. `hide` clears its line before rows go to the same terminal. */
export class Progress {
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
