import { type KernelCandidate, provideKernels } from "./choose.ts";

/**
 * Gives back `user`, for which `kernels` are provided. Calls are marked as pure: what a bundler finds unused, it drops with
 * its kernels, so that a limiter's bundle has none.
 */
export function withKernels<User>(user: User, kernels: readonly KernelCandidate[]): User {
  provideKernels(kernels);
  return user;
}
