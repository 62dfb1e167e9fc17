#!lua flags=allow-oom
-- Ends a hold of a process, or gives up a place in the queue, and serves those whose turn it is.
-- One atomic step: it grants the next hold as it ends this one.
-- KEYS  1 the state of the name (lua/hold/turn.lua)
-- ARGV  1 id of the process · 2 token · 3 the number of its hold, if the caller has reason to believe that nobody else holds the
--       name or waits; else empty
-- Reply as hold/take. is_released: the hold was there. Its lease may have ended, but nobody was served since
-- Law   after the loss of the state, a call with a number restores the last number.
--       A repeated call frees no other hold, and answers 0 after the first has freed this one.
-- Cost  O(bytes of the state)
-- now when needed
local keys_per_step = 1
local arguments_per_step = 3
-- @include store/read-clock
-- @include hold/turn

local function step(k, a, now)
  local key, token, number = KEYS[k], ARGV[a + 1], ARGV[a + 2]
  local is_guess, before = number ~= "", nil
  if is_guess then
    -- The common case in one command: writes the state without a hold, and looks at what was there.
    local free = struct.pack(HEAD, FORMAT, 0, 0, 0, 0, 0, tonumber(number))
    before = redis.call("SET", key, free, "KEEPTTL", "GET")
    if before and #before == HEAD_BYTES + HOLD_LENGTH and string.byte(before, 1) == FORMAT and string.sub(before, -TOKEN_LENGTH) == token then
      local last = struct.unpack(HEAD, before)
      if last == tonumber(number) then return struct.pack(ANSWER, 1, 1, 0, 0) end
    end
    if not before then
      redis.call("SET", key, free, "PXAT", string.format("%.0f", (now or math.floor(read_clock_us() / 1000)) + NUMBER_LIFE_MS))
      return struct.pack(ANSWER, 0, 1, 0, 0)
    end
  else
    before = redis.call("GET", key)
  end
  local is_read, serve, _, remove, save = pcall(turn_functions, key, before, now or math.floor(read_clock_us() / 1000), ARGV[a])
  if not is_read then
    if is_guess then redis.call("SET", key, before, "KEEPTTL") end
    error(serve)
  end
  local is_released = remove(token)
  serve()
  return save(is_guess, is_released)
end
