#!lua flags=allow-oom
-- The modes of limiter/decide that need no memory. They read, free and give back, on a full server too.
-- KEYS  as for limiter/decide
-- ARGV  as for limiter/decide. Modes: peek, give back, block for 0 ms, reset, charge, settle, release
-- Reply as for limiter/decide
-- Law   A reservation that is charged or settled was made before the server was full. It adds at most one record to each policy,
--       without spare room. Wider records of a log, or the ring of a full one, may add up to 2 kB. No other mode makes a value
--       longer, except by restoring a lost expiry, or for a longer span.
-- Cost  as for limiter/decide
-- packed
-- @include limiter/decide
room = 1
local decide_step = step
local function step(k, a, now)
  local mode, amount = struct.unpack(REQUEST, inputs, a)
  if mode == MODE_TAKE or mode == MODE_ADD or mode == MODE_RESERVE or mode == MODE_BLOCK and amount > 0 then
    return refuse("ARGUMENT", "a step that needs memory was sent as one that does not")
  end
  return decide_step(k, a, now)
end
