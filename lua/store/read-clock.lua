-- The server's clock in whole us, for steps that need it in rare cases only, or to the us (a line "-- now when needed"). Their `now`,
-- in ms, is nil, except in tests, which pass a time.
local function read_clock_us()
  local time = redis.call("TIME")
  return time[1] * 1000000 + time[2]
end
