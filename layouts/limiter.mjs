// The records, enums and constants of limiters that TypeScript and Lua share (see layouts/README.md).

const FORMAT = 1;
const LOG_FORMAT = 2;
const KIND = { fixed: 1, sliding: 2, leaky: 3, concurrency: 4, calendar: 5 };

export const constants = {
  FORMAT,
  // How long a granted request with an id keeps its reply.
  REQUEST_LIFE_MS: 60_000,
  // The format of an id's reservations. Those of format 1 have no number of their own: they are LEASEs, with -1 permits if settled.
  HOLDS_FORMAT: 2,
  // How long after its lease a reservation can still be settled.
  SETTLE_GRACE_MS: 60_000,
  // How long a settled reservation is remembered. Longer than a call is sent again.
  SETTLED_LIFE_MS: 10_000,
  // Settled reservations remembered for one id. Each call reads all of them.
  MAX_SETTLED: 64,
  // Open reservations of one id.
  MAX_RESERVATIONS: 1024,
  // Permits times span of a leaky bucket or GCRA. Below 2^52 all of its numbers are integers.
  MAX_LEVEL: 2 ** 52,
  // Records of a sliding window: 48 MiB in Redis, copied in about 50 ms when it grows.
  MAX_RECORDS: 2 ** 22,
  // The format of a sliding window that is a log.
  LOG_FORMAT,
  // The longest log. Redis puts one of 508 bytes into 512. A read asks for one byte more, and so sees a longer value.
  LOG_MOST_BYTES: 508,
  LOG_MOST_BYTES_TEXT: "508",
  // With this limit and 3 bytes for each record, a log is never full. Under a higher one states are often rings, of which most
  // of a long read is wasted. So their logs are shorter.
  LOG_LIMIT: 159,
  SHORT_LOG_BYTES: 252,
  SHORT_LOG_BYTES_TEXT: "252",
  // The records of the ring of a sliding window have their running totals modulo this number, in 6 bytes.
  TOTAL_MODULUS: 2 ** 48,
  // How long the state of a calendar window is kept for windows of other time zones, which end later.
  ENDED_LIFE_MS: 86_400_000,
  // The last edge of a calendar window: whole minutes in 4 bytes.
  MAX_EDGE_MS: 60_000 * (2 ** 32 - 1),
  // How long a process that uses a limiter counts after it was noted, more than twice as long as between two notes.
  CALLER_LIFE_MS: 75_000,
  // Processes that are kept for one limiter.
  MAX_CALLERS: 16_384,
  // Every number of a state is an integer from 0 to this one. Another number means damage.
  MAX_NUMBER: 2 ** 53,
};

export const enums = {
  // The kinds of policies. A GCRA is a leaky bucket.
  KIND,
  // What a step does.
  MODE: { take: 0, peek: 1, add: 2, giveBack: 3, block: 4, reset: 5, reserve: 6, settle: 7, release: 8, charge: 9 },
  STATUS: { decided: 0, reservationsNeeded: 1, notReserved: 2, settled: 3, outside: 4 },
  // Bits of a request's flags. `chargedAtEnd`: a reservation is charged in full if its lease ends.
  REQUEST_FLAG: { partial: 1, hasId: 2, chargedAtEnd: 4 },
  // Bits of a reservation's flags.
  HOLD_FLAG: { settled: 1, chargedAtEnd: 2 },
  // Bits of a rule's flags. `head`: the first policy of its limiter. `reservations`: their key is among the step's keys.
  RULE_FLAG: { shadow: 1, aligned: 2, head: 4, reservations: 8 },
  // The first two bytes of a state as one number, which the fast paths compare.
  FORMAT_AND_KIND: {
    fixed: FORMAT | (KIND.fixed << 8),
    sliding: FORMAT | (KIND.sliding << 8),
    slidingLog: LOG_FORMAT | (KIND.sliding << 8),
    leaky: FORMAT | (KIND.leaky << 8),
  },
};

const UNTIL = [
  ["blockedUntilMs", "f64", "blocked"],
  ["reservedUntilMs", "f64", "holds"],
];
const QUICK_HEAD = [["formatAndKind", "u16"], ["zero", "6"], ...UNTIL];
const FIXED_WINDOW = [
  ["startMs", "f64", "start"],
  ["used", "f64"],
];
const LEAKY_BUCKET = [
  ["atMs", "f64", "at"],
  ["level", "f64"],
  ["spanMs", "f64", "of_span"],
];
// `slot`: that of the oldest record. `total`: all permits so far. `before`: the total before the oldest record.
const SLIDING_TAIL = [
  ["records", "u32"],
  ["zero", "4"],
  ["total", "f64"],
  ["before", "f64"],
  ["oldestMs", "f64", "oldest"],
  ["newestMs", "f64", "newest"],
];
// `late`: the permits since `edge`, at which the window of another time zone begins. `last`: when permits were taken last.
const CALENDAR_WINDOW = [
  ["edgeMs", "f64", "edge"],
  ["endMs", "f64", "ends"],
  ["used", "f64"],
  ["late", "f64"],
  ["lastMs", "f64", "last"],
  ["calendar", "u8"],
  ["zero", "7"],
];
const SLIDING_WINDOW = [["longestMs", "f64", "longest"], ["slots", "u32"], ["slot", "u32"], ...SLIDING_TAIL];
const LEASE_TERM = [
  ["expireAtMs", "f64", "expires"],
  ["permits", "f64"],
];
const HOLD_TERM = [
  ["expireAtMs", "f64", "expires"],
  ["flags", "u8", "hold_flags"],
  ["policies", "u8", "shares"],
  ["zero", "6"],
];
const LEASE_OF_CALL = [["call", "u32"], ...LEASE_TERM];
const REQUEST = [
  ["mode", "u8"],
  ["flags", "u8"],
  ["zero", "2"],
  ["calls", "u32"],
  ["amount", "f64"],
  ["token", "16"],
];
// Of a calendar window `calendar` says which calendar it is, and its begin and end stand in place of `spanMs` and `rate`.
const RULE_TERMS = [
  ["calendar", "u8"],
  ["zero", "5"],
  ["cost", "f64"],
  ["limit", "f64"],
  ["spanMs", "f64", "span"],
  ["rate", "f64"],
];
const REPLY = [
  ["status", "u32"],
  ["granted", "u32"],
  ["permits", "f64"],
  ["blockedMs", "f64", "blocked"],
];
// `endMinute`: when all permits of a calendar window have ended.
const POLICY_REPLY_START = [
  ["passes", "u32"],
  ["endMinute", "u32"],
  ["reserved", "f64"],
];
const REPLY_REST = [
  ["used", "f64"],
  ["waitMs", "f64", "wait"],
  ["resetMs", "f64", "reset"],
];

export const records = {
  // A request: one REQUEST, then a RULE for each policy. `amount`: the fewest permits of a partial call. Block: ms.
  // Reserve, charge: the lease, ms. lua/limiter/decide.lua describes each field.
  REQUEST,
  RULE: [["kind", "u8"], ["flags", "u8", "rule_flags"], ...RULE_TERMS],
  RULE_START: [
    ["kind", "u8"],
    ["flags", "u8", "rule_flags"],
  ],
  // A request with one rule, which the fast paths read at once.
  ONE_RULE_REQUEST: [...REQUEST, ["kind", "u8"], ["ruleFlags", "u8"], ...RULE_TERMS],
  // The reply: one REPLY, then a POLICY_REPLY for each policy.
  REPLY,
  POLICY_REPLY: [...POLICY_REPLY_START, ...REPLY_REST],
  // The reply to a request with one rule, in two parts. The first one is usually that of the last reply.
  REPLY_START: [...REPLY, ...POLICY_REPLY_START],
  REPLY_REST,

  // The state of one policy for one id: STATE_HEAD, then the part of its kind. Only the head of a limiter's first policy
  // has blocks and reservations. The others have the end of reservations that are charged then.
  STATE_HEAD: [["format", "u8"], ["kind", "u8"], ["zero", "6"], ...UNTIL],
  FIXED_WINDOW,
  CALENDAR_WINDOW,
  LEAKY_BUCKET,
  SLIDING_WINDOW,
  // The part of a sliding window that every take changes.
  SLIDING_TAIL,
  // Permits lent. Each LEASE follows, in order of expiry.
  CONCURRENCY: [["used", "f64"]],
  // Whole states, which the fast paths read at once. The ring of a sliding window follows its state.
  FIXED_STATE: [...QUICK_HEAD, ...FIXED_WINDOW],
  CALENDAR_STATE: [...QUICK_HEAD, ...CALENDAR_WINDOW],
  LEAKY_STATE: [...QUICK_HEAD, ...LEAKY_BUCKET],
  SLIDING_STATE: [...QUICK_HEAD, ...SLIDING_WINDOW],
  CONCURRENCY_STATE: [...QUICK_HEAD, ["used", "f64"]],
  // The head of a sliding window that is a log. `untilBytes`: those of UNTIL, or 0. `used`: the permits of all its records.
  SLIDING_LOG: [
    ["formatAndKind", "u16"],
    ["msBytes", "u8"],
    ["totalBytes", "u8"],
    ["records", "u16"],
    ["untilBytes", "u8"],
    ["zero", "1"],
    ["newestMs", "f64", "newest"],
    ["longestMs", "f64", "longest"],
    ["used", "u48"],
  ],
  UNTIL,
  // A record in the ring of a sliding window: a ms with permits, and the running total with them.
  WINDOW_RECORD: [
    ["ms", "u48"],
    ["total", "u48"],
  ],
  // Permits lent. Its token is 16 bytes: 12 bytes of the request and the number of the call in its group.
  LEASE: [["group", "12"], ...LEASE_OF_CALL],
  LEASE_OF_CALL,
  LEASE_TERM,
  // The reservations of one id: HOLDS, then each HOLD with a SHARE for each policy: permits reserved, and charged so far. The first
  // four bytes tell them from those of format 1, whose length is a multiple of 32.
  HOLDS: [
    ["format", "u8"],
    ["zero", "3"],
  ],
  HOLD: [["token", "16"], ...HOLD_TERM],
  HOLD_TERM,
  SHARE: [
    ["reserved", "u32"],
    ["charged", "u32"],
  ],

  // The generation of the requests of one id: 24 bytes, which begin each stored reply.
  GENERATION: [
    ["nowMs", "f64", "now"],
    ["token", "16"],
  ],
  // The reply to a request with an id. The question follows, then the reply.
  STORED_REPLY: [
    ["generation", "24"],
    ["questionLength", "u32"],
  ],
  // The length of the question that follows.
  SIZED: [["length", "u32"]],
  TIME: [["ms", "f64"]],
};
