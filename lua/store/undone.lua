-- Stops a step whose first write, made with redis.pcall, was refused by the server. Nothing was written, so even a step
-- that must not run twice may be tried again.
local function undone(reply)
  error({ code = "UNDONE", text = reply.err })
end
