-- The wrapper of every step. It runs the step for each group of KEYS and catches errors, so that one failure affects
-- one group only.
-- Reply: one element per group, which is the step's bytes or { code, text }. A step refuses by returning or throwing
-- { code =, text = }. The code "ERROR" means that another error was caught; text is then Redis' message.
-- @include store/clock
local groups = #KEYS / keys_per_step
if #ARGV ~= groups * arguments_per_step + first_argument - 1 then
  return redis.error_reply("ERR wrong number of arguments for this step")
end
local replies = {}
for group = 1, groups do
  local key = (group - 1) * keys_per_step + 1
  local ok, reply = pcall(step, key, (group - 1) * arguments_per_step + first_argument, now)
  if not ok then
    if type(reply) ~= "table" then reply = { "ERROR", tostring(reply) }
    else reply = reply.code and { reply.code, reply.text } or { "ERROR", reply.err or "" } end
  elseif type(reply) ~= "string" and type(reply) ~= "table" then
    reply = { "ERROR", "the step returned no bytes" }
  end
  replies[group] = reply
end
return replies
