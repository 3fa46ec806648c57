import type { ConfigValue } from "../configuration/value.ts";

/** A number, or text that is one. */
export function numberWritten(value: ConfigValue | undefined): number | null {
  const found = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof found === "number" && Number.isFinite(found) ? found : null;
}

export function wholeWritten(value: ConfigValue | undefined): number | null {
  const found = numberWritten(value);
  return found === null || found < 0 ? null : Math.max(1, Math.round(found));
}

/** Converts dollars per token to dollars per million, to the sixth decimal. */
export function priceWritten(value: ConfigValue | undefined): number | null {
  const found = numberWritten(value);
  return found === null ? null : Math.round(found * 1e12) / 1e6;
}
