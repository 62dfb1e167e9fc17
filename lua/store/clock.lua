-- The server's clock, read once per call and nowhere else, in whole ms; and the place of the first step's arguments.
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local first_argument = 1
