-- The token of who holds a lock, and when that ends (ms, -1: never); nothing when it is free.
local function holder_of(lock, now)
  local holder = redis.call("GET", lock)
  if not holder then return end
  local expiry = redis.call("PEXPIRETIME", lock)
  if expiry < 0 or expiry >= now then return holder, expiry end
end

-- Lua prints large numbers as 1e+14: whole numbers go to Redis in full.
local function whole(number)
  return string.format("%.0f", number)
end
