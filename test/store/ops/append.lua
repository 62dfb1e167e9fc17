#!lua
-- Test step: appends to a string up to a limit. A script: limit, bytes and expiry are one step.
-- KEYS the string · ARGV 1 bytes · 2 most bytes · 3 lifetime, ms; 0: none
-- Reply length and now, decimal, a space between · Errors TOO_LARGE · Cost O(bytes)
local keys_per_step = 1
local arguments_per_step = 3
local function step(k, a, now)
  local most, lifetime = tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
  if redis.call("STRLEN", KEYS[k]) + #ARGV[a] > most then
    return refuse("TOO_LARGE", "more than " .. ARGV[a + 1] .. " bytes")
  end
  local length = redis.call("APPEND", KEYS[k], ARGV[a])
  if lifetime > 0 then redis.call("PEXPIREAT", KEYS[k], now + lifetime) else redis.call("PERSIST", KEYS[k]) end
  return length .. " " .. now
end
