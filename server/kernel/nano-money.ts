/** Vendors' amounts as integers in nano-units of their currency, so that sums are exact. */

const PLACES = 9;
const DECIMAL = /^([+-]?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * Nano-units of a decimal text or JSON number times ten to the power of `shift` (-2 for cents), rounded half away from zero. Null if it is
 * not a number.
 */
export function nanoOf(value: unknown, shift = 0): bigint | null {
  const [, sign, whole = "", fraction = "", exponent = "0"] = DECIMAL.exec(String(value).trim()) ?? [];
  if (sign === undefined || (typeof value !== "string" && typeof value !== "number")) return null;
  const digits = BigInt(whole + fraction);
  const power = Number(exponent) + shift + PLACES - fraction.length;
  const scaled = power >= 0 ? digits * 10n ** BigInt(power) : (digits + 10n ** BigInt(-power) / 2n) / 10n ** BigInt(-power);
  return sign === "-" ? -scaled : scaled;
}

/** For display: a double is exact to the cent for any realistic bill. */
export const unitsOfNano = (nano: bigint): number => Number(nano) / 1e9;

/** Decimal text with at least two decimals, such as `12.3456789`. */
export function textOfNano(nano: bigint): string {
  const digits = (nano < 0n ? -nano : nano).toString().padStart(PLACES + 1, "0");
  return `${nano < 0n ? "-" : ""}${digits.slice(0, -PLACES)}.${digits.slice(-PLACES).replace(/0+$/, "").padEnd(2, "0")}`;
}
