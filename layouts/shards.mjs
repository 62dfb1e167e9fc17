// The constants and records of the spreads of a sharded series that TypeScript and Lua share (see layouts/README.md).

export const constants = {
  SPREADS_FORMAT: 1,
  // A spread that was noted less than this ago is in use: another process may not name fewer shards.
  IN_USE_MS: 60_000,
  MAX_SHARDS: 256,
  // Above the longest retention and the time for which a spread is listed after it.
  LONGEST_KEEP_MS: 1e12,
};

export const records = {
  // The list begins with it. The spreads follow, all of one kind.
  // `kind`: a hash of the type of the values, the clock and the labels.
  SPREADS: [
    ["format", "u32"],
    ["kind", "u32"],
  ],
  // Processes record the series in this many shards. Of a list of servers, this server has the one at `position`, from 1.
  // Without a list it is 0.
  SPREAD: [
    ["shards", "u32"],
    ["position", "u32"],
    // When a process noted it last.
    ["seenMs", "f64", "seen"],
    // How long it is listed after that.
    ["keepMs", "f64", "keep"],
    // When a process had last noted it on every server of the list, by the time of this one. 0: none has yet.
    ["wholeMs", "f64", "whole"],
  ],
  // The reply: whether the series has events without shards. The listed spreads follow, each as LISTED.
  AGREED: [["plain", "u32"]],
  LISTED: [
    ["shards", "u32"],
    ["position", "u32"],
    // How long ago a process had noted it on every server; -1: none has yet.
    ["wholeAgoMs", "f64"],
  ],
};
