// The record of locked windows that TypeScript and Lua share (see layouts/README.md).

export const records = {
  // The reply to a read. Timestamps follow, then values.
  WINDOW: [
    ["nowMs", "f64", "now"],
    ["timesBytes", "u32"],
  ],
};
