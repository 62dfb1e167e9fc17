// The records, enums and constants of fleets that TypeScript and Lua share (see layouts/README.md).

export const constants = {
  FORMAT: 1,
  // The latest time of a JavaScript Date.
  LATEST_MS: 8.64e15,
  // Senders remembered for one fleet, and how long each is remembered.
  MAX_SENDERS: 512,
  SENDER_LIFE_MS: 600_000,
  // The key expires this long after its last bucket has left every window.
  SLACK_MS: 60_000,
  // Follows the buckets of a name if damaged ones were left out.
  DAMAGE_MARK: "!",
};

export const enums = {
  // What became of a bucket. `addedToOthers`: there was no room for its name. `tooLate`: it can be in no window any more.
  // `replaced`: the stored bucket was damaged.
  OUTCOME: { added: 0, addedToOthers: 1, tooLate: 2, replaced: 3 },
};

const BUCKET_START = [["startMs", "f64", "start"]];
const SENDER_BATCH = [
  ["number", "f64"],
  ["flushedMs", "f64", "flushed"],
];

export const records = {
  // A bucket of one name. Latencies are in ms.
  BUCKET: [
    ...BUCKET_START,
    ["allowed", "f64"],
    ["denied", "f64"],
    ["success", "f64"],
    ["failure", "f64"],
    ["latencySum", "f64", "sum"],
    ["latencyMin", "f64", "smallest"],
    ["latencyMax", "f64", "largest"],
  ],
  BUCKET_START,
  // The number of the last batch of a sender, and when it came.
  SENDER: [["id", "8"], ...SENDER_BATCH],
  SENDER_BATCH,
  SENDER_TIME: [["flushedMs", "f64", "flushed"]],
  // The reply begins with the time of the server.
  REPLY: [["nowMs", "f64", "now"]],
};
