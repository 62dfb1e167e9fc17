#!lua flags=allow-oom
-- What limiter/decide does without a need for memory: it looks, frees and gives back, on a full server too.
-- KEYS  as of limiter/decide
-- ARGV  as of limiter/decide, with one of these modes: 1 peek, 3 give back, 4 block for 0 ms, 5 reset, 7 settle, 8 release
-- Reply as of limiter/decide
-- Law   what is settled was reserved before the server was full: it adds one record to each policy at most, and no room for
--       more. Nothing else here makes a value longer, but for an expiry that was lost.
-- Cost  as of limiter/decide
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
