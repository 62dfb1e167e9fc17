import { tables } from "./stores.ts";
import { windowSuite } from "./suite.ts";

for (const { name, kernel, open } of tables) windowSuite(name, kernel, open);
