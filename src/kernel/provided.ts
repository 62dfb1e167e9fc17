import { type KernelCandidate, provideKernels } from "./choose.ts";

/**
 * Provides `kernels`, and returns `user`. Callers mark the call as pure. A bundler then drops an unused `user` together
 * with its kernels, so that the bundle of a limiter has none.
 */
export function withKernels<User>(user: User, kernels: readonly KernelCandidate[]): User {
  provideKernels(kernels);
  return user;
}
