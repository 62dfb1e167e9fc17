-- The lock's constants; src/lock/law.ts holds the same, a test compares them.
local stranger_ms = 100
local fence_life_ms = 604800000
local largest_fence = 9007199254740991
local promise_ms = 150
local watch_ms = 50
local place_life_ms = 10000
local most_places = 256
