/** Check digits of identifiers. Each function takes digits, or capital letters and digits, without separators. */

const digit = (text: string, at: number) => text.charCodeAt(at) - 48;

/** Sum of the digits times their weights. */
export function weighted(digits: string, weights: readonly number[]): number {
  let sum = 0;
  for (const [at, weight] of weights.entries()) sum += digit(digits, at) * weight;
  return sum;
}

export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = digits.length - 1, doubled = false; at >= 0; at--, doubled = !doubled) {
    const value = digit(digits, at) * (doubled ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

const D = [
  "0123456789",
  "1234067895",
  "2340178956",
  "3401289567",
  "4012395678",
  "5987604321",
  "6598710432",
  "7659821043",
  "8765932104",
  "9876543210",
];
const P = ["0123456789", "1576283094", "5803796142", "8916043527", "9453126870", "4286573901", "2793806415", "7046913258"];

export function passesVerhoeff(digits: string): boolean {
  let check = 0;
  for (let at = 0; at < digits.length; at++) check = digit(D[check] ?? "", digit(P[at % 8] ?? "", digit(digits, digits.length - 1 - at)));
  return check === 0;
}

/** ISO 7064 mod 11,10: the last digit checks the others. */
export function passesMod11And10(digits: string): boolean {
  let product = 10;
  for (let at = 0; at < digits.length - 1; at++) {
    const sum = (digit(digits, at) + product) % 10 || 10;
    product = (sum * 2) % 11;
  }
  return (11 - product) % 10 === digit(digits, digits.length - 1);
}

/** The remainder of a number of any length. */
export function remainderOf(digits: string, by: number): number {
  let remainder = 0;
  for (let at = 0; at < digits.length; at++) remainder = (remainder * 10 + digit(digits, at)) % by;
  return remainder;
}

const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether there is such a day in some year. */
export function isDay(month: number, day: number): boolean {
  return day >= 1 && day <= (MONTH_DAYS[month - 1] ?? 0);
}

/** Whether six digits are a day in the given order. */
export function isDate(digits: string, order: "ymd" | "dmy"): boolean {
  const [first, month, last] = [Number(digits.slice(0, 2)), Number(digits.slice(2, 4)), Number(digits.slice(4, 6))];
  return isDay(month, order === "ymd" ? last : first);
}

/** Whether all digits are the same, as in examples. */
export function isMonotonous(digits: string): boolean {
  return /^(\d)\1+$/.test(digits);
}
