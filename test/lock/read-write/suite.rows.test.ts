import { openLive, overMatrix } from "../../matrix/open.ts";
import { readWriteSuite } from "./suite.ts";

overMatrix("readWriteLock", (name, _open, row) => readWriteSuite(name, () => openLive(row)));
