import { STAGES } from "../../stages.ts";
import { sinkSuite } from "./suite.ts";

for (const [name, open] of Object.entries(STAGES)) sinkSuite(name, open);
