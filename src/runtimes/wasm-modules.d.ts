// What a .wasm file is to the runtimes that import one: a compiled module.
declare module "*.wasm" {
  const module: object;
  export default module;
}

// The same, in the words of Vercel's edge runtime.
declare module "*.wasm?module" {
  const module: object;
  export default module;
}
