import { openLive, overMatrix } from "../matrix/open.ts";
import { semaphoreSuite } from "./suite.ts";

// A `MultiSemaphore` has the same rows, and is in the suite.
overMatrix("semaphore", (name, _open, row) => semaphoreSuite(name, () => openLive(row)));
