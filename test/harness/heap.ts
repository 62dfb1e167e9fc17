import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** What this process holds: V8's heap and the buffers outside of it, after what nobody needs is gone. */
export async function heldBytes(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    await new Promise(setImmediate);
    collect();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
