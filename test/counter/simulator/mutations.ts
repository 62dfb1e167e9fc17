export interface Mutation {
  readonly rule: string;
  readonly hasOneNonce?: boolean;
  readonly forgottenAfterMs?: number;
  readonly constants?: Partial<Record<string, number>>;
  readonly step?: { readonly name: string; readonly local: (real: never) => unknown };
  readonly patch?: () => () => void;
}
