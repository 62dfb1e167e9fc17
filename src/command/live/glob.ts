/** Whether a name matches a pattern, in which `*` stands for any characters and `?` for one. */
export function matcherOf(pattern: string | undefined): (name: string) => boolean {
  if (pattern === undefined) return () => true;
  // Not a regular expression: "a*a*a*a*b" would take it exponential time.
  const parts = [...pattern];
  return (name) => matches([...name], parts);
}

function matches(name: readonly string[], pattern: readonly string[]): boolean {
  let [at, part, star, resumeAt] = [0, 0, -1, 0];
  while (at < name.length) {
    if (pattern[part] === "*") [star, resumeAt] = [part++, at];
    else if (part < pattern.length && (pattern[part] === "?" || pattern[part] === name[at])) {
      at++;
      part++;
    } else if (star >= 0) [part, at] = [star + 1, ++resumeAt];
    else return false;
  }
  while (pattern[part] === "*") part++;
  return part === pattern.length;
}
