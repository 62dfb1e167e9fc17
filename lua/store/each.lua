-- The wrapper of every step: runs it for each group of KEYS, each guarded, so that one key's failure is its own.
-- Reply: one element per group: the step's bytes; or { code, text }, a refusal, returned or thrown as { code =, text = }
-- ("ERROR": another error was caught, text is Redis' message).
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
    reply = { "ERROR", "the step gave no bytes" }
  end
  replies[group] = reply
end
return replies
