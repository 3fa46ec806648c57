export interface Sums {
  /** Null if the vendor does not count requests. */
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
  /** Parts of the vendor's usage: of models not matched here, of keys not matched here, and of keys that do not belong to the gateway. */
  unmatchedModel: { cost: bigint; tokens: number };
  unmatchedKey: { cost: bigint; tokens: number };
  foreign: { cost: bigint; tokens: number };
}

export const allTokens = ({ input, output }: Sums): number => input + output;
