#!lua flags=allow-oom
-- Reads a whole locked window, and stores the mark of the lock's hold that reads it.
-- Must be a script: the read and the mark are one atomic step.
-- KEYS  a hash: fields timestamps, values (bytes, possibly of another program) and mark
-- ARGV  1 fence of the hold, 0 if the lock has none · 2 the hold's nonce, 0 to leave no mark · 3 maximum bytes · 4 span, ms
-- Reply WINDOW · timestamps · values
-- Law   A hold with an earlier mark "fence:nonce" can no longer write (locked-write). A lower fence than that of the last
--       mark, or the same fence with another nonce, gives STALE. Without fences the last reader can write, so a hold whose
--       lease expired loses no event either. A repeated call only renews the expiry.
--       A call that leaves a mark sets the expiry to now + 2 * span.
-- Errors STALE · CORRUPT · TOO_LARGE more than the maximum bytes
-- Cost  O(bytes)
-- @include store/refuse
-- @include layouts/locked-window
local MAX_FENCE = 2 ^ 53
local keys_per_step = 1
local arguments_per_step = 4

local function step(k, a, now)
  local key, fence, nonce = KEYS[k], tonumber(ARGV[a]), ARGV[a + 1]
  local max_bytes, span = tonumber(ARGV[a + 2]), tonumber(ARGV[a + 3])
  local stored = redis.call("HMGET", key, "timestamps", "values", "mark")
  local times, values = stored[1] or "", stored[2] or ""
  if #times + #values > max_bytes then
    return refuse("TOO_LARGE", "the window takes " .. #times + #values .. " bytes, of at most " .. ARGV[a + 2])
  end
  if nonce ~= "0" then
    local mark = ARGV[a] .. ":" .. nonce
    local last = tonumber(string.match(stored[3] or "0:0", "^(%d+):%d+$"))
    if not last or last > MAX_FENCE then return refuse("CORRUPT", "its field mark is not a fence and nonce") end
    if fence > 0 and (last > fence or (last == fence and stored[3] ~= mark)) then
      return refuse("STALE", "another holder has the window's lock now")
    end
    redis.call("HSET", key, "mark", mark)
    redis.call("PEXPIREAT", key, string.format("%.0f", now + 2 * span))
  end
  return struct.pack(WINDOW, now, #times) .. times .. values
end
