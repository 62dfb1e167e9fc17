-- The lock's constants; src/lock/law.ts holds the same, a test compares them.
local STRANGER_MS = 100
local FENCE_LIFE_MS = 604800000
local LARGEST_FENCE = 9007199254740991
local PROMISE_MS = 150
local WATCH_MS = 50
local PLACE_LIFE_MS = 10000
local MOST_PLACES = 256
