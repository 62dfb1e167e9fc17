import { sinkDifferential } from "../../drain/sql/contract/differential.ts";
import { sinkSuite } from "../../drain/sql/contract/suite.ts";
import { mapSink } from "./map-sink.ts";

const open = async () => {
  const sink = mapSink();
  return { sink: () => sink, stop: async () => {} };
};

sinkSuite("maps", open);
sinkDifferential("maps", open);
