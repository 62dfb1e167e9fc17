-- The limiters' constants. src/limiter/steps/constants.ts has the same values; a test compares them.
local FORMAT = 1
local REQUEST_LIFE_MS = 60000
local SETTLE_GRACE_MS = 60000
local SETTLED_LIFE_MS = 10000
local MAX_SETTLED = 64
local MAX_RESERVATIONS = 1024
local MAX_LEVEL = 4503599627370496
local MAX_RECORDS = 4194304
local MAX_NUMBER = 9007199254740992
