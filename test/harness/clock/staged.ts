import { afterAll, afterEach, beforeAll } from "vitest";

/** Opens a stage before the tests of this block, clears it after each, and closes what it stands on at the end. */
export function staged<Stage extends { clear(): unknown; readonly opened: { close(): unknown } }>(
  open: () => Promise<Stage>,
): () => Stage {
  let stage: Stage;
  beforeAll(async () => {
    stage = await open();
  });
  afterEach(async () => {
    await stage.clear();
  });
  afterAll(async () => {
    await stage?.opened.close();
  });
  return () => stage;
}
