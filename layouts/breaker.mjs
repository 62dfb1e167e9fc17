// The constants, enums and records of breakers that TypeScript and Lua share (see layouts/README.md).

export const constants = {
  FORMAT: 1,
  // A process is remembered for this long after its last batch and the span: longer than a batch can be under way.
  PROCESS_LIFE_MS: 60_000,
  // If no call comes, an open circuit is kept for this long after its cooldown.
  OPEN_LIFE_MS: 86_400_000,
  // Processes whose last batch is remembered. Above this number, the longest silent one is dropped.
  MAX_PROCESSES: 1024,
  // An id of a process: ASCII.
  ID_BYTES: 16,
};

export const enums = {
  STATE: { closed: 0, open: 1, halfOpen: 2 },
  // An order of `open()` or `close()`.
  COMMAND: { none: 0, open: 1, close: 2 },
  // How a probe ended. An ignored one says nothing about the called service.
  VERDICT: { ignored: 0, success: 1, failure: 2 },
};

const ENTRY_REST = [
  ["number", "u32"],
  ["ms", "f64"],
];

export const records = {
  // The head of a circuit. All times except `base` and `epoch` are ms after `base`. Probes, processes and records follow.
  CIRCUIT: [
    ["format", "u8"],
    ["state", "u8"],
    ["probes", "u16"],
    ["processes", "u32"],
    // Server ms. When the clock steps back, base is set back, and all times with it.
    ["base", "f64"],
    // The last step.
    ["stamp", "f64"],
    // Grows with each change of state.
    ["epoch", "f64"],
    // The end of the cooldown.
    ["ends", "f64"],
    // The start of the window.
    ["since", "f64"],
    // Counts of the window of a closed circuit; else of the window that opened it.
    ["calls", "f64"],
    ["failures", "f64"],
    ["slow", "f64"],
    // Successful probes.
    ["good", "u32"],
    // Bytes of records that have left the window.
    ["dead", "u32"],
  ],
  // A running probe: its process, its number, and the end of its lease.
  // A process: its id, its last batch, and when that came.
  ENTRY: [["id", "16"], ...ENTRY_REST],
  ENTRY_REST,
  // The calls of one tick.
  RECORD: [
    ["time", "f64"],
    ["calls", "u32"],
    ["failures", "u32"],
    ["slow", "u32"],
  ],
  RULE: [
    ["spanMs", "f64", "span"],
    ["tickMs", "f64", "tick"],
    ["minimumCalls", "f64", "minimum"],
    ["failureRatio", "f64"],
    ["slowRatio", "f64"],
    ["failures", "f64", "max_failures"],
    ["cooldownMs", "f64", "cooldown"],
    ["probes", "f64", "max_probes"],
    ["leaseMs", "f64", "lease"],
  ],
  // A report, after the id of its process. Ended probes follow.
  REPORT: [
    // Number of the batch; 0: no batch.
    ["sequence", "u32"],
    // Number of the first probe that is asked for.
    ["first", "u32"],
    // Number of probes that are asked for.
    ["wanted", "u32"],
    ["command", "u32"],
    // Number of ended probes.
    ["settled", "u32"],
  ],
  ENDED_PROBE: [
    ["number", "u32"],
    ["verdict", "u32"],
  ],
  // The calls of one ms in a batch.
  CALLS: [
    ["age", "u32"],
    ["calls", "u32"],
    ["failures", "u32"],
    ["slow", "u32"],
  ],
  REPLY: [
    ["state", "u32"],
    ["granted", "u32"],
    ["epoch", "f64"],
    ["waitMs", "f64", "wait"],
    ["sinceMs", "f64", "since"],
    ["calls", "f64"],
    ["failures", "f64"],
    ["slow", "f64"],
  ],
};
