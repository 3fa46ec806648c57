import { usdFromMicros } from "../../kernel/money.ts";
import type { BucketLimit, WindowLimit } from "./counters/counters.ts";

/** A limit's type as it appears in texts for people. */
export const limitWords = (limitType: string): string => limitType.replaceAll("_", " ");

/** An amount as text for people; US dollars for money. */
export function amountText({ measure }: Pick<WindowLimit | BucketLimit, "measure">, amount: number): string {
  return measure === "micros" ? `$${usdFromMicros(amount)}` : String(amount);
}
