import { STAGES } from "../../stages.ts";
import { sinkDifferential } from "./differential.ts";

for (const [name, open] of Object.entries(STAGES)) sinkDifferential(name, open);
