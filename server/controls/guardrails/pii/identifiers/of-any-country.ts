import { beginning, type Identifier, named } from "./identifier.ts";
import { isDay, passesLuhn, passesMod11And10, remainderOf, weighted } from "./check-digits.ts";

const VIN_VALUES = "0123456789.ABCDEFGH..JKLMN.P.R..STUVWXYZ";
const VIN_WEIGHTS = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];

function isVin(value: string): boolean {
  let sum = 0;
  for (let at = 0; at < 17; at++) sum += (VIN_VALUES.indexOf(value.charAt(at)) % 10) * (VIN_WEIGHTS[at] ?? 0);
  return "0123456789X"[sum % 11] === value[8] && /[A-Z].*[A-Z].*[A-Z]/.test(value);
}

/** Sum of the digits of each digit times one or two in turn. */
function weightedByDigits(digits: string): number {
  return [...digits].reduce((sum, one, at) => {
    const value = Number(one) * ((at % 2) + 1);
    return sum + (value > 9 ? value - 9 : value);
  }, 0);
}

/** VAT numbers by country whose check digits are verified. */
const VAT: Readonly<Record<string, (number: string) => boolean>> = {
  DE: (number) => passesMod11And10(number),
  IT: (number) => passesLuhn(number),
  FR: (number) =>
    passesLuhn(number.slice(2)) &&
    (!/^\d\d/.test(number) || Number(number.slice(0, 2)) === (12 + 3 * remainderOf(number.slice(2), 97)) % 97),
  BE: (number) => 97 - remainderOf(number.slice(0, 8), 97) === Number(number.slice(8)),
  PL: (number) => weighted(number, [6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11 === Number(number[9]),
  AT: (number) => (100 - 4 - weightedByDigits(number.slice(1, 8))) % 10 === Number(number[8]),
};

const MONTH = "(?:jan|feb|m[a\u00e4]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-z]{0,6}\\.?";

/** Whether the numbers of a written date can be a day. */
function isBirthday(_value: string, written: string): boolean {
  const numbers = (written.match(/\d+/g) ?? []).map(Number);
  if (numbers.length === 2) return (numbers[0] ?? 0) <= 31;
  const [first = 0, second = 0, third = 0] = numbers;
  if (first > 31) return isDay(second, third);
  return isDay(second, first) || isDay(first, second);
}

/** Identifiers that every country has, and dates of birth. */
export const OF_ANY_COUNTRY = {
  passport: {
    begins: beginning([0, 1, 2, 3], [2, 5, 6, 7, 8, 9]),
    shape: /[A-Z]{0,3}(?:\d{6,9}|\d\d[A-Z]{2}\d{5})/y,
    isValid: () => true,
    alone: 0.1,
    ...named(
      "passport|reisepass|passeport|pasaporte|passaport|paspoort|\u043f\u0430\u0441\u043f\u043e\u0440\u0442|\u8b77\u7167|\u62a4\u7167|\u65c5\u5238",
    ),
  },
  driver_license: {
    begins: beginning([0, 1, 2, 3, 4, 5], [3, 4, 5, 6, 7, 8, 9, 10, 12, 13]),
    shape: /[A-Z]{0,5}\d{3,13}(?:-?\d{3,5}){0,4}[A-Z0-9]{0,5}/y,
    isValid: (value) => value.length >= 6 && value.length <= 16,
    alone: 0.1,
    ...named(
      String.raw`driv(?:er'?s?|ing)['\u2019]?s?[ _-]?licen[cs]e|f\u00fchrerschein|permis de conduire|permiso de conducir|licencia de conducir|patente di guida|rijbewijs|carteira de habilita`,
    ),
  },
  date_of_birth: {
    begins: beginning([0], [1, 2, 4]),
    shape: new RegExp(
      String.raw`(?:19|20)\d\d([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.]) ?\d{1,2}\2 ?(?:19|20)?\d\d|\d{1,2}(?:st|nd|rd|th|\.)? ?${MONTH},? (?:19|20)\d\d`,
      "iy",
    ),
    isValid: isBirthday,
    alone: 0.1,
    ...named(
      String.raw`\bborn\b|birth|geboren|geburt|\bn\u00e9e? le\b|naissance|nacid[oa]|nacimiento|nat[oa] il|nascita|nasciment|geboorte|f\u00f8dt|f\u00f6dd|urodz|\u0440\u043e\u0436\u0434|\u751f\u5e74\u6708\u65e5|\u51fa\u751f`,
      "dob",
    ),
  },
  eu_vat: {
    begins: [...beginning([2], [8, 9, 10, 11, 12]), [3, 8]],
    shape: /(?:ATU|BE ?|DE ?|DK ?|FI ?|FR ?|IT ?|PL ?|PT ?|SE ?|LU ?|CZ ?|EL ?|HU ?|RO ?|SK ?|SI ?|HR ?)\d{8,12}/y,
    isValid(value) {
      const number = value.slice(2);
      const length = VAT_LENGTHS[value.slice(0, 2)];
      return length === number.length && (VAT[value.slice(0, 2)]?.(number) ?? true);
    },
    alone: 0.6,
    ...named(String.raw`\bvat\b|ust-?id|umsatzsteuer|\btva\b|\biva\b|\bbtw\b|moms`),
  },
  vin: {
    begins: beginning([0, 1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]),
    shape: /[A-HJ-NPR-Z0-9]{17}/y,
    isValid: isVin,
    alone: 0.6,
    ...named("chassis|fahrgestell|vehicle id", "vin"),
  },
} as const satisfies Readonly<Record<string, Identifier>>;

const VAT_LENGTHS: Readonly<Record<string, number>> = {
  ...{ AT: 9, BE: 10, DE: 9, DK: 8, FI: 8, FR: 11, IT: 11, PL: 10, PT: 9, SE: 12 },
  ...{ LU: 8, CZ: 8, EL: 9, HU: 8, RO: 8, SK: 10, SI: 8, HR: 11 },
};
