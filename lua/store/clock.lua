-- Reads the server's clock in whole ms, only here and once per call. Also sets the place of the first step's arguments.
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local first_argument = 1
