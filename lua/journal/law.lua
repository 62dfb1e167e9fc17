-- The journal's constants; src/journal/format/law.ts holds the same, a test compares them.
local FORMAT = 1
local SUMMARY_FORMAT = 129
local EARLY_MS = 60000
local EXPIRY_SLACK_MS = 60000
local PAGE_BYTES = 1048576
local ROTATE_BYTES = 1015808
local FULL_BYTES = 67108864
local OLDEST_CHUNK_MS = 3888000000
local CHUNKS_PER_RETENTION = 64
local SHORTEST_CHUNK_MS = 1000
local DEDUPE_MS = 20000
local MOST_SERVER_EVENTS = 10000
local MOST_SERVER_BYTES = 524288
local MOST_SERVER_CHUNKS = 128
local MOST_FOUND_CHUNKS = 128
