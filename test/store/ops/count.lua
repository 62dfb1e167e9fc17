#!lua
-- Test step of fixed sizes: adds to a total up to a limit, and breaks off at an amount of 13. A script: limit and total
-- are one step.
-- KEYS the total, decimal · ARGV f64 amount · f64 most · Reply f64 total · f64 now · Errors TOO_LARGE · Cost O(1)
-- packed
local function step(k, a, now)
  local amount, most = struct.unpack("<dd", inputs, a)
  if amount == 13 then error("broken on purpose") end
  local total = tonumber(redis.call("GET", KEYS[k]) or "0") + amount
  if total > most then return refuse("TOO_LARGE", "more than " .. most) end
  redis.call("SET", KEYS[k], total)
  return struct.pack("<dd", total, now)
end
