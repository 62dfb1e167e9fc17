-- The server's clock in whole ms, for steps that need it in rare cases only (a line "-- now when needed"). Their `now` is
-- nil, except in tests, which pass a time.
local function read_clock()
  local time = redis.call("TIME")
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
