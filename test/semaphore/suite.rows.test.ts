import { openLive, overMatrix } from "../matrix/open.ts";
import { quorumLockSuite, semaphoreSuite } from "./suite.ts";

overMatrix("semaphore", (name, _open, row) => semaphoreSuite(name, () => openLive(row), false));
overMatrix("multiSemaphore", (name, _open, row) => semaphoreSuite(name, () => openLive(row), true));
overMatrix("quorumLock", (name, _open, row) => quorumLockSuite(name, () => openLive(row)));
