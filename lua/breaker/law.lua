-- The breaker's constants; src/breaker/law.ts holds the same, a test compares them.
local FORMAT = 1
local PROCESS_LIFE_MS = 60000
local OPEN_LIFE_MS = 86400000
local MOST_PROCESSES = 1024
