/** The names of the packages that `npm start` needs, out of a package.json. */
export function neededPackages(manifest: {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}): string[];
/** The entries of a package-lock.json that these packages need. */
export function lockedPart<Entry>(packages: Record<string, Entry>, names: readonly string[]): Record<string, Entry>;
