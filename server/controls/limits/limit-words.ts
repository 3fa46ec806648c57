import { usdFromMicros } from "../../kernel/money.ts";
import type { BucketLimit, WindowLimit } from "./counters/counters.ts";

/** A limit as texts for people call it. */
export const limitWords = (limitType: string): string => limitType.replaceAll("_", " ");

/** An amount of a limit as text for people: US dollars for money. */
export function amountText({ measure }: Pick<WindowLimit | BucketLimit, "measure">, amount: number): string {
  return measure === "micros" ? `$${usdFromMicros(amount)}` : String(amount);
}
