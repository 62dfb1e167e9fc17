import { overMatrix } from "../../matrix/open.ts";
import { windowSuite } from "./suite.ts";

overMatrix("series", (name, open, { kernel }) => windowSuite(name, kernel, open));
