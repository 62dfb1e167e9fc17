import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects garbage now, without a flag on the command line. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

/** Bytes of typed arrays and of WebAssembly memories that are still held. */
export async function externalBytes(): Promise<number> {
  // Buffers are freed a turn of the event loop after their owners.
  for (let i = 0; i < 2; i++) {
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().external;
}
