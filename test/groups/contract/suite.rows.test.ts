import { overMatrix } from "../../matrix/open.ts";
import { groupSuite } from "./suite.ts";

overMatrix("seriesGroup", (name, open, { kernel }) => groupSuite(name, kernel, open));
