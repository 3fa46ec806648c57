/** Money as vendors write it, in nano-units of its currency: whole numbers, so that no sum loses a cent. */

const PLACES = 9;
const DECIMAL = /^([+-]?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * Of a decimal text or a JSON number, times ten to the power of `shift` (-2 for cents); rounded half away from zero. Null for what is no
 * number.
 */
export function nanoOf(value: unknown, shift = 0): bigint | null {
  const [, sign, whole = "", fraction = "", exponent = "0"] = DECIMAL.exec(String(value).trim()) ?? [];
  if (sign === undefined || (typeof value !== "string" && typeof value !== "number")) return null;
  const digits = BigInt(whole + fraction);
  const power = Number(exponent) + shift + PLACES - fraction.length;
  const scaled = power >= 0 ? digits * 10n ** BigInt(power) : (digits + 10n ** BigInt(-power) / 2n) / 10n ** BigInt(-power);
  return sign === "-" ? -scaled : scaled;
}

/** For reading: a double, which is a cent's worth exact for any bill. */
export const unitsOfNano = (nano: bigint): number => Number(nano) / 1e9;

/** `12.345678900` as a person writes it. */
export function textOfNano(nano: bigint): string {
  const digits = (nano < 0n ? -nano : nano).toString().padStart(PLACES + 1, "0");
  return `${nano < 0n ? "-" : ""}${digits.slice(0, -PLACES)}.${digits.slice(-PLACES).replace(/0+$/, "").padEnd(2, "0")}`;
}
