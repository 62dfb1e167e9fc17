-- The breaker's constants. src/breaker/constants.ts has the same values; a test compares them.
local FORMAT = 1
local PROCESS_LIFE_MS = 60000
local OPEN_LIFE_MS = 86400000
local MAX_PROCESSES = 1024
