import { usdFromMicros } from "../../kernel/money.ts";
import type { BucketLimit, WindowLimit } from "./counters/counters.ts";

/** A limit as texts for people call it. */
export const limitWords = (limitType: string): string => limitType.replaceAll("_", " ");

/** What is used of a limit, or its bound, as texts for people tell it: money in dollars. */
export function amountText({ measure }: Pick<WindowLimit | BucketLimit, "measure">, amount: number): string {
  return measure === "micros" ? `$${usdFromMicros(amount)}` : String(amount);
}
