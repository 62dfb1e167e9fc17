#!lua flags=allow-oom
-- The modes of limiter/decide that need no memory. They read, free and give back, on a full server too.
-- KEYS  as for limiter/decide
-- ARGV  as for limiter/decide, with one of these modes: 1 peek, 3 give back, 4 block for 0 ms, 5 reset, 7 settle, 8 release
-- Reply as for limiter/decide
-- Law   A settled reservation was made before the server was full. It adds at most one record to each policy, without spare
--       room. No other mode makes a value longer, except by restoring a lost expiry.
-- Cost  as for limiter/decide
-- packed
-- @include limiter/decide
room = 1
local decide_step = step
local function step(k, a, now)
  local asked, permits = struct.unpack("<Bxxxxxxxd", inputs, a)
  if asked == TAKE or asked == ADD or asked == RESERVE or asked == BLOCK and permits > 0 then
    return refuse("ARGUMENT", "a step that needs memory was sent as one that does not")
  end
  return decide_step(k, a, now)
end
