export interface Sums {
  /** Null where the vendor counts none. */
  requests: number | null;
  input: number;
  output: number;
  cost: bigint;
  hasCost: boolean;
}

export interface Compared {
  readonly day: string;
  readonly model: string | null;
  readonly key: string | null;
  readonly vendor: Sums;
  readonly gateway: Sums;
  readonly provisional: boolean;
  /** Tokens of rows whose usage the gateway estimated. */
  estimated: number;
  unpriced: number;
  /** Of the vendor's: cost of names that nothing here was found for, and of keys that are no key of ours. */
  unmatchedModel: { cost: bigint; tokens: number };
  unmatchedKey: { cost: bigint; tokens: number };
  foreign: { cost: bigint; tokens: number };
}

export const allTokens = ({ input, output }: Sums): number => input + output;
