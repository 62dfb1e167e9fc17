-- The answer of a step that refuses. The step must have written nothing before. `code` is one of src/base/errors.ts.
local function refuse(code, text)
  return { code, text }
end
