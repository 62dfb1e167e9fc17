-- The limiters' constants; src/limiter/steps/law.ts holds the same, a test compares them.
local FORMAT = 1
local REQUEST_LIFE_MS = 60000
local SETTLE_GRACE_MS = 60000
local SETTLED_LIFE_MS = 10000
local MOST_SETTLED = 64
local MOST_HELD = 1024
local MOST_LEVEL = 4503599627370496
local MOST_RECORDS = 4194304
local MOST_NUMBER = 9007199254740992
