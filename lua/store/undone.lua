-- Breaks a step off whose first write the server refused, for which the step used redis.pcall: nothing was written, so what
-- must not be done twice may be tried again.
local function undone(reply)
  error({ code = "UNDONE", text = reply.err })
end
