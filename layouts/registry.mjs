// The constants of the registry that TypeScript and Lua share (see layouts/README.md).

export const constants = {
  // A structure is listed for this long after its last announcement: 7 days.
  STRUCTURE_LIFE_MS: 604_800_000,
  // A process is listed for this long after its last announcement.
  PROCESS_LIFE_MS: 3_600_000,
  // If two processes announce different settings within this time, both are in use, and that is a conflict.
  CONFLICT_MS: 150_000,
  // Entries of each kind. Above this number, the entry that was announced longest ago is removed.
  MAX_LISTED: 10_000,
  // One announcement removes at most one entry for each that it writes, and this number and one more.
  MAX_REMOVED: 200,
  // Entries that one step of a listing reads, about.
  PAGE: 500,
};
