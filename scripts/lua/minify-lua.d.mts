interface Names {
  local: Map<string, string>;
  field: Map<string, string>;
}

export declare function namesFor(texts: readonly string[]): Names;
export declare function minifyLua(text: string, names: Names): string;
