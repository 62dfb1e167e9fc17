type End = () => unknown;

const ofTest: End[] = [];
const ofFile: End[] = [];

/** Runs `end` after the test under way; the last one given runs first. */
export function atEnd(end: End): void {
  ofTest.push(end);
}

/** Starts what tests of one file share: once per file, when it is first wanted. It is stopped after the file. */
export function oncePerFile<T extends { stop(): Promise<unknown> }>(start: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    if (running) return running;
    const own = start();
    running = own;
    const end = async () => {
      running = undefined;
      await (await own).stop();
    };
    ofFile.push(end);
    // A start that failed is tried again.
    own.catch(() => {
      running = undefined;
      ofFile.splice(ofFile.indexOf(end), 1);
    });
    return own;
  };
}

async function run(ends: End[]): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}
export const endTest = () => run(ofTest);
export const endFile = () => run(ofFile);
