-- The journal's constants; src/window/law.ts holds the same, a test compares them.
local format = 1
local early_ms = 60000
local expiry_slack_ms = 60000
local page_bytes = 1048576
local full_bytes = 67108864
local oldest_chunk_ms = 3888000000
local chunks_per_retention = 64
local shortest_chunk_ms = 1000
local dedupe_ms = 20000
local most_server_events = 10000
local most_server_bytes = 524288
local most_server_chunks = 128
