import { openLive, overMatrix } from "../../matrix/open.ts";
import { lockSuite } from "./suite.ts";

overMatrix("lock", (name, _open, row) => lockSuite(name, () => openLive(row)));
