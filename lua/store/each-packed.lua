-- The wrapper of every packed step. `inputs` has the inputs of all groups, one after the other and equal in size, or
-- the one input that all groups share. Each group has the same number of KEYS.
-- ARGV  1 number of groups · 2 inputs · 3 bytes of an input
-- Reply: an array. Its first element has all answers, one after the other, in one string. Each group without an answer
-- adds { its number as text, code, text }. A step refuses by returning or throwing { code =, text = }. The code "ERROR"
-- means that another error was caught; text is then Redis' message.
-- @include store/clock
local groups = tonumber(ARGV[first_argument])
inputs = ARGV[first_argument + 1]
keys_per_step, input_bytes = #KEYS / groups, tonumber(ARGV[first_argument + 2])
local stride = #inputs > input_bytes and input_bytes or 0
if keys_per_step % 1 ~= 0 or #inputs ~= input_bytes + (groups - 1) * stride then
  return redis.error_reply("ERR wrong number of keys or bytes for this step")
end
local answers, replies = {}, { "" }
for group = 1, groups do
  local key = (group - 1) * keys_per_step + 1
  local ok, answer = pcall(step, key, (group - 1) * stride + 1, now)
  if not ok then
    if type(answer) ~= "table" then answer = { "ERROR", tostring(answer) }
    else answer = answer.code and { answer.code, answer.text } or { "ERROR", answer.err or "" } end
  elseif type(answer) ~= "string" and type(answer) ~= "table" then
    answer = { "ERROR", "the step returned no bytes" }
  end
  if type(answer) == "string" then
    answers[#answers + 1] = answer
  else
    replies[#replies + 1] = { tostring(group), answer[1], answer[2] }
  end
end
replies[1] = table.concat(answers)
return replies
