import { stores } from "./stores.ts";
import { lockSuite } from "./suite.ts";

for (const [name, open] of Object.entries(stores)) lockSuite(name, open);
