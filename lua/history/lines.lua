#!lua
-- Adds a line to a list, and reads the list and the time.
-- A script: lines are removed and added in one step.
-- KEYS  1 the list, a string of lines
-- ARGV  1 line without a line break, unique; "" adds none · 2 "1" to read the list
-- Reply LINES_READ · the list if it was asked for: for each line the server's time in ms when it was added, a space, the line,
--       a line break
-- Law   A repeated line is not added again. The oldest lines are removed above MAX_LIST_BYTES.
-- Cost  O(list); O(1) if neither a line nor the list is asked for
-- @include layouts/history
local keys_per_step = 1
local arguments_per_step = 2

local function step(k, a, now)
  local line, is_wanted, list = ARGV[a], ARGV[a + 1] == "1", ""
  if line ~= "" or is_wanted then list = redis.call("GET", KEYS[k]) or "" end
  if line ~= "" and not string.find(list, " " .. line .. "\n", 1, true) then
    list = list .. string.format("%.0f", now) .. " " .. line .. "\n"
    while #list > MAX_LIST_BYTES do list = string.sub(list, string.find(list, "\n", 1, true) + 1) end
    redis.call("SET", KEYS[k], list, "PXAT", string.format("%.0f", now + LIST_LIFE_MS))
  end
  return struct.pack(LINES_READ, now) .. (is_wanted and list or "")
end
