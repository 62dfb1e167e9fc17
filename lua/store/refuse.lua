-- The answer of a step that will not be done: nothing may have been written before it. `code` is one of src/errors.ts.
local function refuse(code, text)
  return { code, text }
end
