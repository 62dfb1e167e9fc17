import type { Run } from "../runs/run.ts";

/** Events that enter or leave a window together: their extent in time, and their run, made when a query first needs it. */
export interface Block {
  earliest: number;
  latest: number;
  run: Run | undefined;
}
