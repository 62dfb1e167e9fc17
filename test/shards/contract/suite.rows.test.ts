import { overMatrix } from "../../matrix/open.ts";
import { shardSuite } from "./suite.ts";

overMatrix("shardedSeries", (name, open, { kernel }) => shardSuite(name, kernel, open));
