-- The wrapper of every step of fixed sizes: `inputs` holds what all groups of KEYS are given, input_bytes each.
-- Reply: first the answers, answer_bytes each, in one string (zeros where there is none); then, for each group without
-- one, { its number as text, code, text }: a refusal ("ERROR": caught, text is Redis' message).
-- @include store/clock
inputs = ARGV[first_argument]
local groups = #KEYS / keys_per_step
if #ARGV ~= first_argument or #inputs ~= groups * input_bytes then
  return redis.error_reply("ERR wrong size of the input of this step")
end
local answers, replies = {}, { "" }
for group = 1, groups do
  local key = (group - 1) * keys_per_step + 1
  local ok, answer = pcall(step, key, (group - 1) * input_bytes + 1, now)
  if not ok then
    answer = { "ERROR", type(answer) == "table" and answer.err or tostring(answer) }
  elseif type(answer) == "string" and #answer ~= answer_bytes or type(answer) ~= "string" and type(answer) ~= "table" then
    answer = { "ERROR", "the step gave no answer of its size" }
  end
  if type(answer) == "table" then
    replies[#replies + 1] = { tostring(group), answer[1], answer[2] }
    answer = string.rep("\0", answer_bytes)
  end
  answers[group] = answer
end
replies[1] = table.concat(answers)
return replies
