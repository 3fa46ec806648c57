import { beginning, type Identifier, named } from "./identifier.ts";
import { isDate, isDay, isMonotonous, passesLuhn, passesMod11And10, remainderOf, weighted } from "./check-digits.ts";

const NHS_WEIGHTS = [10, 9, 8, 7, 6, 5, 4, 3, 2];
const DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE";
const HETU_CHARACTERS = "0123456789ABCDEFHJKLMNPRSTUVWXY";
/** Values of characters in the odd places of a codice fiscale; those in even places count as themselves. */
const ODD: readonly number[] = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

function isNir(value: string): boolean {
  const number = value.replace("2A", "19").replace("2B", "18");
  const month = Number(number.slice(3, 5));
  return (
    /^\d{15}$/.test(number) &&
    ((month >= 1 && month <= 12) || month >= 20) &&
    97 - remainderOf(number.slice(0, 13), 97) === Number(number.slice(13))
  );
}

function isCodiceFiscale(value: string): boolean {
  let sum = 0;
  for (let at = 0; at < 15; at++) {
    const code = value.charCodeAt(at);
    const own = code <= 57 ? code - 48 : code - 65;
    sum += at % 2 === 0 ? (ODD[own] ?? 0) : own;
  }
  return value.charCodeAt(15) - 65 === sum % 26;
}

function isGermanTaxId(digits: string): boolean {
  const counts = [...Map.groupBy(digits.slice(0, 10), (one) => one).values()].map(({ length }) => length);
  const repeated = counts.filter((count) => count > 1);
  return digits[0] !== "0" && repeated.length === 1 && (repeated[0] ?? 0) <= 3 && passesMod11And10(digits);
}

function isBelgian(digits: string): boolean {
  const check = Number(digits.slice(9));
  const month = Number(digits.slice(2, 4));
  // A month or day of zero is given where the birthday is not known.
  if (month !== 0 && !isDay(month, Number(digits.slice(4, 6)) || 1)) return false;
  return [digits.slice(0, 9), `2${digits.slice(0, 9)}`].some((number) => 97 - remainderOf(number, 97) === check);
}

function isPesel(digits: string): boolean {
  const month = Number(digits.slice(2, 4)) % 20;
  return isDay(month, Number(digits.slice(4, 6))) && weighted(digits, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0;
}

function isAustrian(digits: string): boolean {
  return digits[0] !== "0" && isDate(digits.slice(4), "dmy") && weighted(digits, [3, 7, 9, 0, 5, 8, 4, 2, 1, 6]) % 11 === Number(digits[3]);
}

function isEan13(digits: string): boolean {
  return weighted(digits, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]) % 10 === 0;
}

function isNif(digits: string): boolean {
  const rest = weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2]) % 11;
  return /^[1-35689]/.test(digits) && Number(digits[8]) === (rest < 2 ? 0 : 11 - rest);
}

function isNhs(digits: string): boolean {
  const check = 11 - (weighted(digits, NHS_WEIGHTS) % 11);
  return !isMonotonous(digits) && (check === 11 ? 0 : check) === Number(digits[9]);
}

function isDni(value: string): boolean {
  const number = value.slice(0, -1).replace("X", "0").replace("Y", "1").replace("Z", "2");
  return DNI_LETTERS[Number(number) % 23] === value.at(-1);
}

/** Identifiers of people in Europe. */
export const OF_EUROPE = {
  uk_nino: {
    begins: beginning([2], [2, 6]),
    shape: /(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?:\d{6}[A-D]| ?\d\d \d\d \d\d ?[A-D]|-\d\d-\d\d-\d\d-[A-D])/y,
    isValid: () => true,
    alone: 0.8,
    ...named("national insurance|insurance n", "nino", "ni"),
  },
  uk_nhs: {
    begins: beginning([0], [3, 10]),
    shape: /\d{3}([ -]?)\d{3}\1\d{4}/y,
    isValid: isNhs,
    alone: 0.3,
    ...named("national health|health service", "nhs"),
  },
  de_tax_id: {
    begins: beginning([0], [2, 11]),
    shape: /\d{11}|\d\d \d{3} \d{3} \d{3}/y,
    isValid: isGermanTaxId,
    alone: 0.4,
    ...named(String.raw`steuer-?\s?(?:id|nummer|ident|nr)|identifikationsnummer|tax id|tax number`, "idnr", "tin"),
  },
  fr_nir: {
    begins: beginning([0], [1, 6, 15]),
    shape: /[12] ?\d\d ?\d\d ?(?:\d\d|2[AB]) ?\d{3} ?\d{3} ?\d\d/y,
    isValid: isNir,
    alone: 0.8,
    ...named(String.raw`s[\u00e9e]curit[\u00e9e] sociale|num[\u00e9e]ro de s[\u00e9e]cu`, "nir", "insee"),
  },
  es_dni: {
    begins: [...beginning([0], [2, 8]), [1, 7]],
    shape: /(?:\d{8}|\d\d\.\d{3}\.\d{3})[ -]?[A-Z]|[XYZ]-?\d{7}-?[A-Z]/y,
    isValid: isDni,
    alone: 0.7,
    ...named("documento nacional", "dni", "nie", "nif"),
  },
  it_codice_fiscale: {
    begins: [[6, 2]],
    shape: /[A-Za-z]{6}\d\d[A-EHLMPRSTa-ehlmprst]\d\d[A-Za-z]\d{3}[A-Za-z]/y,
    isValid: isCodiceFiscale,
    alone: 0.9,
    ...named("codice fiscale|fiscal code", "cf"),
  },
  pl_pesel: { begins: [[0, 11]], shape: /\d{11}/y, isValid: isPesel, alone: 0.4, ...named("pesel") },
  nl_bsn: {
    begins: beginning([0], [3, 4, 9]),
    shape: /\d{9}|\d{3}[ .]\d{3}[ .]\d{3}|\d{4}[ .]\d\d[ .]\d{3}/y,
    isValid: (digits) => !isMonotonous(digits) && weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0,
    alone: 0.2,
    ...named("burgerservice|sofi-?nummer|citizen service", "bsn"),
  },
  be_national_number: {
    begins: beginning([0], [2, 6, 11]),
    shape: /\d{11}|\d{6}[ -]\d{3}[ .-]\d\d|\d\d\.\d\d\.\d\d[ -]\d{3}[.-]\d\d/y,
    isValid: isBelgian,
    alone: (written) => (written.length > 11 ? 0.8 : 0.45),
    ...named(String.raw`rijksregister|registre national|num[\u00e9e]ro national|national (?:register|number)|\binsz\b|\bniss\b`),
  },
  se_personnummer: {
    begins: beginning([0], [6, 8, 10, 12]),
    shape: /(?:19|20)?\d{6}[-+]?\d{4}/y,
    isValid: (digits) => isDate(digits.slice(-10), "ymd") && passesLuhn(digits.slice(-10)),
    alone: (written) => (/[-+]/.test(written) ? 0.7 : 0.4),
    ...named("personnummer|personal identity|personnr"),
  },
  fi_hetu: {
    begins: [[0, 6]],
    shape: /\d{6}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]/y,
    isValid: (value, written) =>
      isDate(value, "dmy") && HETU_CHARACTERS[Number(written.slice(0, 6) + written.slice(7, 10)) % 31] === written[10],
    alone: 0.85,
    ...named(String.raw`henkil[\u00f6o]tunnus|sosiaaliturvatunnus|personbeteckning`, "hetu"),
  },
  pt_nif: {
    begins: beginning([0], [3, 9]),
    shape: /\d{9}|\d{3} \d{3} \d{3}/y,
    isValid: isNif,
    alone: 0.2,
    ...named("contribuinte|fiscal", "nif"),
  },
  at_svnr: {
    begins: beginning([0], [4, 10]),
    shape: /\d{4}[ -]?\d{6}/y,
    isValid: isAustrian,
    alone: 0.4,
    ...named("sozialversicherung|versicherungsnummer", "svnr", "svn"),
  },
  ch_ahv: {
    begins: beginning([0], [3, 13]),
    shape: /756([. ]?)\d{4}\1\d{4}\1\d\d/y,
    isValid: isEan13,
    alone: 0.85,
    ...named("ahv|avs|oasi|sozialversicherung"),
  },
} as const satisfies Readonly<Record<string, Identifier>>;
