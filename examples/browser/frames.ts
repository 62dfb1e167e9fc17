// How smooth the page is: the time from frame to frame over the last ten seconds, exactly, in the page itself.
import { kernel, LocalSeries } from "oriel";

const frames = new LocalSeries({ retention: "10s" });
const output = document.querySelector("output")!;
let lastMs: number | undefined;
let shownMs = 0;

function onFrame(nowMs: number): void {
  if (lastMs !== undefined) frames.record(nowMs - lastMs);
  lastMs = nowMs;
  if (nowMs - shownMs > 250) {
    shownMs = nowMs;
    show();
  }
  requestAnimationFrame(onFrame);
}

function show(): void {
  const { count, max } = frames.stats({ span: "10s" });
  if (count === 0) return;
  const p99 = frames.percentile(99, { span: "10s" });
  output.textContent = `${count} frames, p99 ${p99.toFixed(1)} ms, longest ${max.toFixed(1)} ms (${kernel.name})`;
}

requestAnimationFrame(onFrame);
