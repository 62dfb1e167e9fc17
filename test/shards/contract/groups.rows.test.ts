import { groupSuite } from "../../groups/contract/suite.ts";
import { overMatrix } from "../../matrix/open.ts";
import { shardedGroupSuite } from "./suite-groups.ts";

overMatrix("shardedSeriesGroup", (name, open, { kernel }) => {
  groupSuite(name, kernel, open, 2);
  shardedGroupSuite(name, kernel, open);
});
