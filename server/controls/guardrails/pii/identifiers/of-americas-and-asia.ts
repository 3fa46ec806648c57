import { beginning, type Identifier, named } from "./identifier.ts";
import { isDate, isDay, isMonotonous, passesLuhn, passesVerhoeff, remainderOf, weighted } from "./check-digits.ts";

/** The two check digits of Brazilian numbers; `first`: the weights of the first, before which the second has one more. */
function passesBrazilian(digits: string, first: readonly number[], extra: number): boolean {
  if (isMonotonous(digits)) return false;
  return [first, [extra, ...first]].every((weights) => {
    const rest = weighted(digits, weights) % 11;
    return Number(digits[weights.length]) === (rest < 2 ? 0 : 11 - rest);
  });
}

const CURP_CHARACTERS = "0123456789ABCDEFGHIJKLMN\u00d1OPQRSTUVWXYZ";

function isCurp(value: string): boolean {
  let sum = 0;
  for (let at = 0; at < 17; at++) sum += CURP_CHARACTERS.indexOf(value.charAt(at)) * (18 - at);
  return isDate(value.slice(4, 10), "ymd") && (10 - (sum % 10)) % 10 === Number(value[17]);
}

function isNric(value: string): boolean {
  const series = value.charAt(0);
  const sum = weighted(value.slice(1), [2, 7, 6, 5, 4, 3, 2]) + (series === "T" || series === "G" ? 4 : series === "M" ? 3 : 0);
  if (series === "M") return "KLJNPQRTUWX"[10 - (sum % 11)] === value[8];
  return (series === "S" || series === "T" ? "JZIHGFEDCBA" : "XWUTRQPNMLK")[sum % 11] === value[8];
}

function isResidentId(value: string): boolean {
  const year = Number(value.slice(6, 10));
  const check = "10X98765432"[weighted(value, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]) % 11];
  return year >= 1900 && year < 2100 && isDay(Number(value.slice(10, 12)), Number(value.slice(12, 14))) && check === value[17];
}

function isRrn(digits: string, written: string): boolean {
  if (!isDate(digits, "ymd") || digits[6] === "0" || digits[6] === "9") return false;
  // Numbers given since 2020 have no check digit.
  return written.includes("-") || (11 - (weighted(digits, [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11)) % 10 === Number(digits[12]);
}

function isMyNumber(digits: string): boolean {
  const rest = weighted(digits, [6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
  return !isMonotonous(digits) && Number(digits[11]) === (rest < 2 ? 0 : 11 - rest);
}

function isDea(value: string): boolean {
  const number = value.slice(2);
  return (weighted(number, [1, 0, 1, 0, 1]) + 2 * weighted(number, [0, 1, 0, 1, 0, 1])) % 10 === Number(number[6]);
}

/** Identifiers of people in the Americas, Asia and Australia. */
export const OF_AMERICAS_AND_ASIA = {
  us_itin: {
    begins: beginning([0], [3, 9]),
    shape: /9\d\d([ -]?)(?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])\1\d{4}/y,
    isValid: () => true,
    alone: (written) => (written.includes("-") ? 0.7 : 0.2),
    ...named("taxpayer|tax id|individual tax", "itin", "tin"),
  },
  us_mbi: {
    begins: [[0, 1]],
    shape: /[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\d-?[AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\d-?[AC-HJKMNP-RT-Y]{2}\d\d/y,
    isValid: () => true,
    alone: 0.8,
    ...named("medicare|beneficiary", "mbi"),
  },
  us_npi: {
    begins: [[0, 10]],
    shape: /[12]\d{9}/y,
    isValid: (digits) => passesLuhn(`80840${digits}`),
    alone: 0.3,
    ...named("national provider|provider (?:id|number)", "npi"),
  },
  us_dea: {
    begins: [[2, 7]],
    shape: /[ABCDEFGHJKLMPRSTUX][A-Z9]\d{7}/y,
    isValid: isDea,
    alone: 0.45,
    ...named("drug enforcement|prescriber", "dea"),
  },
  us_routing_number: {
    begins: [[0, 9]],
    shape: /(?:0\d|1[0-2]|2[1-9]|3[0-2]|6[1-9]|7[0-2]|80)\d{7}/y,
    isValid: (digits) => weighted(digits, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0,
    alone: 0.2,
    ...named("routing|transit n", "aba", "rtn"),
  },
  ca_sin: {
    begins: beginning([0], [3, 9]),
    shape: /[1-79]\d\d([ -]?)\d{3}\1\d{3}/y,
    isValid: (digits) => passesLuhn(digits),
    alone: 0.35,
    ...named("social insurance|assurance sociale", "sin", "nas"),
  },
  mx_curp: {
    begins: [[4, 6]],
    shape: /[A-Z][AEIOUX][A-Z]{2}\d{6}[HMX][A-Z]{2}[B-DF-HJ-NP-TV-Z]{3}[0-9A-Z]\d/y,
    isValid: isCurp,
    alone: 0.9,
    ...named("poblaci[o\u00f3]n", "curp"),
  },
  br_cpf: {
    begins: beginning([0], [3, 9, 11]),
    shape: /\d{11}|\d{3}\.\d{3}\.\d{3}-\d\d|\d{9}-\d\d/y,
    isValid: (digits) => passesBrazilian(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2], 11),
    alone: (written) => (written.length > 11 ? 0.85 : 0.45),
    ...named("cadastro de pessoa", "cpf"),
  },
  br_cnpj: {
    begins: beginning([0], [2, 14]),
    shape: /\d{14}|\d\d\.\d{3}\.\d{3}\/\d{4}-\d\d/y,
    isValid: (digits) => passesBrazilian(digits, [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2], 6),
    alone: (written) => (written.length > 14 ? 0.85 : 0.45),
    ...named("pessoa jur", "cnpj"),
  },
  in_aadhaar: {
    begins: beginning([0], [4, 12]),
    shape: /[2-9]\d{3}([ -]?)\d{4}\1\d{4}(?![ -]\d)/y,
    isValid: (digits) => !isMonotonous(digits) && passesVerhoeff(digits),
    alone: (written) => (written.length > 12 ? 0.55 : 0.3),
    ...named("aadha+r|\u0906\u0927\u093e\u0930", "uid", "uidai"),
  },
  in_pan: {
    begins: [[5, 4]],
    shape: /[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z]/y,
    isValid: () => true,
    alone: 0.7,
    ...named("permanent account", "pan"),
  },
  au_tfn: {
    begins: beginning([0], [3, 9]),
    shape: /\d{3}( ?)\d{3}\1\d{3}/y,
    isValid: (digits) => !isMonotonous(digits) && weighted(digits, [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0,
    alone: 0.25,
    ...named("tax file", "tfn"),
  },
  au_medicare: {
    begins: beginning([0], [4, 10]),
    shape: /[2-6]\d{3}( ?)\d{5}\1\d(?:[/ -]?[1-9])?/y,
    isValid: (digits) => weighted(digits, [1, 3, 7, 9, 1, 3, 7, 9]) % 10 === Number(digits[8]),
    alone: 0.35,
    ...named("medicare"),
  },
  au_abn: {
    begins: beginning([0], [2, 11]),
    shape: /[1-9]\d( ?)\d{3}\1\d{3}\1\d{3}/y,
    isValid: (digits) => remainderOf(String(weighted(digits, [10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]) - 10), 89) === 0,
    alone: (written) => (written.length > 11 ? 0.6 : 0.4),
    ...named("business number", "abn"),
  },
  sg_nric: {
    begins: [[1, 7]],
    shape: /[STFGM]\d{7}[A-Z]/y,
    isValid: isNric,
    alone: 0.85,
    ...named("identity card|\\bic\\b", "nric", "fin"),
  },
  jp_my_number: {
    begins: beginning([0], [4, 12]),
    shape: /\d{4}([ -]?)\d{4}\1\d{4}(?![ -]\d)/y,
    isValid: isMyNumber,
    alone: 0.3,
    ...named("my ?number|individual number|\u30de\u30a4\u30ca\u30f3\u30d0\u30fc|\u500b\u4eba\u756a\u53f7"),
  },
  kr_rrn: {
    begins: beginning([0], [6, 13]),
    shape: /\d{6}-?\d{7}/y,
    isValid: isRrn,
    alone: (written) => (written.includes("-") ? 0.8 : 0.5),
    ...named("resident registration|\uc8fc\ubbfc", "rrn"),
  },
  cn_resident_id: {
    begins: beginning([0], [17, 18]),
    shape: /[1-9]\d{16}[\dXx]/y,
    isValid: isResidentId,
    alone: 0.85,
    ...named("\u8eab\u4efd\u8b49|\u8eab\u4efd\u8bc1|resident id"),
  },
} as const satisfies Readonly<Record<string, Identifier>>;
