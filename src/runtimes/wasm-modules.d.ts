// Runtimes that import a .wasm file get a compiled module.
declare module "*.wasm" {
  const module: object;
  export default module;
}

// The same, in the words of Vercel's edge runtime.
declare module "*.wasm?module" {
  const module: object;
  export default module;
}
