// The import of a .wasm file is a compiled module.
declare module "*.wasm" {
  const module: object;
  export default module;
}

// The same, as Vercel's edge runtime spells it.
declare module "*.wasm?module" {
  const module: object;
  export default module;
}
