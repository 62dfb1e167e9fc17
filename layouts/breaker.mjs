// The constants, enums and records of breakers that TypeScript and Lua share (see layouts/README.md).

export const constants = {
  FORMAT: 3,
  // The head of format 2 ends here: no probe of it has failed.
  OLD_FORMAT: 2,
  OLD_CIRCUIT_BYTES: 112,
  // A process is remembered for this long after its last batch and the span: longer than a batch can be under way.
  PROCESS_LIFE_MS: 60_000,
  // If no call comes, an open circuit is kept for this long after its cooldown.
  OPEN_LIFE_MS: 86_400_000,
  // Processes that a circuit remembers. Each new one above this number takes the place of another.
  MAX_PROCESSES: 10_000,
  // Places that are looked at for a new process.
  PLACES_TRIED: 4,
  // A process called lately if it reported calls in this step of the clock or in the ones before that make a span.
  STEPS_PER_SPAN: 16,
  // Steps with counts: those of a span, and the present one.
  CENSUS_STEPS: 17,
  // Epochs modulo this number, in the mark of a process.
  EPOCH_MODULUS: 2_147_483_648,
  // Fractions of its multiples lie far apart: jitter.
  GOLDEN: 0.6180339887498949,
  // An id of a process: ASCII.
  ID_BYTES: 16,
  // After a failed probe a cooldown has this many turns.
  TURNS: 16,
  // The order of the turns is drawn anew for each round: an id is a polynomial modulo this prime, at a point that the epoch gives.
  DRAW_MODULUS: 2_147_483_647,
  DRAW_POINTS: 1_000_003,
  FIRST_DRAW_POINT: 1024,
};

export const enums = {
  STATE: { closed: 0, open: 1, halfOpen: 2 },
  // An order of `open()`, `close()` or `reset()`.
  COMMAND: { none: 0, open: 1, close: 2, reset: 3 },
  // What opened a circuit last.
  CAUSE: { calls: 0, probe: 1, order: 2 },
  // How a probe ended. An ignored one says nothing about the called service.
  VERDICT: { ignored: 0, success: 1, failure: 2 },
};

const ENTRY_REST = [
  ["number", "u32"],
  ["ms", "f64"],
];

export const records = {
  // The head of a circuit. All times except `base` and `epoch` are ms after `base`. The census, the probes, the ids of the
  // processes that probe last, the processes and the records follow.
  CIRCUIT: [
    ["format", "u8"],
    ["state", "u8"],
    ["probes", "u16"],
    ["places", "u32"],
    // Server ms. When the clock steps back, base is set back, and all times with it.
    ["base", "f64"],
    // The last step.
    ["stamp", "f64"],
    // Grows with each change of state.
    ["epoch", "f64"],
    // The end of the cooldown. Half-open: since when probes are granted, or the last one failed.
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
    ["cause", "u32"],
    // The place at which a new process looks first.
    ["cursor", "u32"],
    // The cooldown before jitter; 0: the circuit has closed since.
    ["grown", "f64"],
    // An order keeps a closed circuit closed until then.
    ["held", "f64"],
    // Processes that called lately, and those of them that see failures. If the circuit is not closed, those that opened it.
    // If the census knew fewer, those whose probes failed and one that asks for another.
    ["callers", "u32"],
    ["seeing", "u32"],
    // With a quorum: processes whose probes failed in this round, and ids in the list of those that probe last.
    ["failed", "u32"],
    ["lasts", "u32"],
    // Closed: those that had called lately when it opened last. For a span, as many count at least.
    ["former", "u32"],
  ],
  // The same for each step of a span, after the head.
  CENSUS: [
    ["callers", "u32"],
    ["seeing", "u32"],
  ],
  // A running probe: its process, its number, and the end of its lease.
  ENTRY: [["id", "16"], ...ENTRY_REST],
  ENTRY_REST,
  // A process: its id, its last batch, and when that came. The mark is twice the epoch of the window in which it is counted,
  // plus 1 if it sees failures.
  PROCESS: [["id", "16"], ...ENTRY_REST, ["mark", "u32"]],
  PROCESS_REST: [...ENTRY_REST, ["mark", "u32"]],
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
    ["quorum", "f64"],
    ["factor", "f64"],
    ["longestMs", "f64", "longest"],
    ["jitter", "f64"],
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
    // How long the order holds; 0: open for a cooldown, or closed for no time.
    ["forMs", "u32", "for_ms"],
    // The place of the process, from 1, as the last reply had it; 0: unknown.
    ["place", "u32"],
    // 1: the calls of this process alone meet the rule, with any number of them.
    ["sees", "u32"],
    // The epoch of these calls, modulo EPOCH_MODULUS; 0: unknown. In another window the process sees nothing.
    ["window", "u32"],
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
    ["heldMs", "f64", "held"],
    ["cause", "u32"],
    ["place", "u32"],
    ["callers", "u32"],
    ["seeing", "u32"],
  ],
};
