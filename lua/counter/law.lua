-- The counters' constants; src/counter/law.ts holds the same, a test compares them.
local producer_life_ms = 3600000
