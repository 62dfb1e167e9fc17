#!lua
-- Test step that breaks off on demand. KEYS any · ARGV 1 "yes" or "no" · Reply "whole" · Cost O(1)
local keys_per_step = 1
local arguments_per_step = 1
local function step(k, a, now)
  if ARGV[a] == "yes" then error("broken on purpose") end
  return "whole"
end
