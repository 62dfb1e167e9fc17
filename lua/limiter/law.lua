-- The limiters' constants; src/limiter/law.ts holds the same, a test compares them.
local format = 1
local request_life_ms = 60000
local settle_grace_ms = 60000
local settled_life_ms = 10000
local most_settled = 64
local most_held = 1024
local most_level = 4503599627370496
local most_records = 4194304
