import type { SeededRandom } from "../random.ts";

/** Values generated from the issuers' own rules, independent of any detector. */

const GIVEN = [
  "maria",
  "john",
  "anna",
  "wei",
  "yuki",
  "mehmet",
  "lucas",
  "sofia",
  "olga",
  "piotr",
  "ingrid",
  "jean-luc",
  "siobhan",
  "thabo",
  "priya",
  "m",
  "j.r",
];
const FAMILY = [
  "smith",
  "garcia",
  "muller",
  "rossi",
  "silva",
  "kowalski",
  "ivanova",
  "tanaka",
  "dejong",
  "o'brien",
  "nguyen",
  "larsson",
  "van.dijk",
  "al-farsi",
  "k",
];
const DOMAINS = [
  "example.com",
  "mail.example.org",
  "acme-corp.co.uk",
  "firma.de",
  "entreprise.fr",
  "empresa.com.br",
  "azienda.it",
  "bedrijf.nl",
  "firma.com.pl",
  "pochta.ru",
  "sirket.com.tr",
  "kaisha.co.jp",
  "gongsi.cn",
  "hoesa.co.kr",
  "foretag.se",
  "team.museum",
  "startup.io",
  "dept.university.edu",
  "xn--mller-kva.de",
  "b\u00fccher.example",
  "service.cloud",
  "photos.photography",
  "a.b.c.d.example.net",
  "123mail.net",
  "x.ai",
];

export function email(random: SeededRandom): string {
  const given = random.pick(GIVEN);
  const family = random.pick(FAMILY);
  const local = random.pick([
    `${given}.${family}`,
    `${given}${family}`,
    `${given}_${family}`,
    `${given[0]}.${family}`,
    `${given}${random.between(1, 2026)}`,
    `${given}+${random.pick(["news", "shop", "2026", "a-b"])}`,
    `${family}-${given}`,
    `${given}.${family}%hr`,
    given.toUpperCase(),
    `${given[0]!.toUpperCase()}${given.slice(1)}.${family[0]!.toUpperCase()}${family.slice(1)}`,
    `${random.pick(["info", "sales", "kundenservice", "contact", "no-reply", "hr"])}`,
    `j\u00fcrgen.${family}`,
  ]);
  const domain = random.pick(DOMAINS);
  return `${local}@${random.between(0, 9) === 0 ? domain.toUpperCase() : domain}`;
}

/** [prefixes, length, groups]. */
const ISSUERS: readonly (readonly [string, number, readonly number[]])[] = [
  ["4", 16, [4, 4, 4, 4]],
  ["4", 16, [4, 4, 4, 4]],
  ["51", 16, [4, 4, 4, 4]],
  ["55", 16, [4, 4, 4, 4]],
  ["2221", 16, [4, 4, 4, 4]],
  ["2720", 16, [4, 4, 4, 4]],
  ["34", 15, [4, 6, 5]],
  ["37", 15, [4, 6, 5]],
  ["6011", 16, [4, 4, 4, 4]],
  ["65", 16, [4, 4, 4, 4]],
  ["644", 16, [4, 4, 4, 4]],
  ["36", 14, [4, 6, 4]],
  ["300", 14, [4, 6, 4]],
  ["38", 14, [4, 6, 4]],
  ["3528", 16, [4, 4, 4, 4]],
  ["3589", 16, [4, 4, 4, 4]],
  ["62", 16, [4, 4, 4, 4]],
  ["2200", 16, [4, 4, 4, 4]],
  ["62", 19, [4, 4, 4, 4, 3]],
  ["4", 19, [4, 4, 4, 4, 3]],
];

function luhnDigit(body: string): number {
  let sum = 0;
  [...body].toReversed().forEach((sign, i) => {
    const doubled = Number(sign) * (i % 2 === 0 ? 2 : 1);
    sum += doubled > 9 ? doubled - 9 : doubled;
  });
  return (10 - (sum % 10)) % 10;
}

export function card(random: SeededRandom): string {
  const [prefix, length, groups] = random.pick(ISSUERS);
  const body = prefix + random.text("0123456789", length - prefix.length - 1);
  const number = body + luhnDigit(body);
  const separator = random.pick(["", "", " ", " ", "-"]);
  let at = 0;
  return groups.map((size) => number.slice(at, (at += size))).join(separator);
}

/** A number with the length and prefix of a card number but a wrong check digit. */
export function notACard(random: SeededRandom): string {
  const number = card(random);
  const last = Number(number.at(-1));
  return number.slice(0, -1) + ((last + random.between(1, 9)) % 10);
}

/** With an empty `separator`: nine digits in a row. */
export function ssn(random: SeededRandom, separator: string): string {
  let area = random.between(1, 899);
  if (area === 666) area = 665;
  return [
    String(area).padStart(3, "0"),
    String(random.between(1, 99)).padStart(2, "0"),
    String(random.between(1, 9999)).padStart(4, "0"),
  ].join(separator);
}

/** Structures from the IBAN registry: n is a digit, a an uppercase letter, c either. */
const STRUCTURES: Readonly<Record<string, string>> = {
  DE: "n18",
  FR: "n10c11n2",
  GB: "a4n14",
  ES: "n20",
  IT: "a1n10c12",
  NL: "a4n10",
  PL: "n24",
  TR: "n6c16",
  PT: "n21",
  CH: "n5c12",
  AT: "n16",
  BE: "n12",
  SE: "n20",
  NO: "n11",
  DK: "n14",
  FI: "n14",
  IE: "a4n14",
  CZ: "n20",
  GR: "n7c16",
  MT: "a4n5c18",
  SA: "n2c18",
  AE: "n19",
  BR: "n23a1c1",
  UA: "n6c19",
  RO: "a4c16",
  HU: "n24",
  KZ: "n3c13",
  LU: "n3c13",
  QA: "a4c21",
  EE: "n16",
};

const CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

export function iban(random: SeededRandom): string {
  const country = random.pick(Object.keys(STRUCTURES));
  let account = "";
  for (const [, kind, count] of STRUCTURES[country]!.matchAll(/([nac])(\d+)/g)) {
    account += random.text(kind === "n" ? "0123456789" : kind === "a" ? CAPITALS : `0123456789${CAPITALS}`, Number(count));
  }
  const number = [...`${account}${country}00`].map((sign) => (/\d/.test(sign) ? sign : String(sign.charCodeAt(0) - 55))).join("");
  const check = String(98n - (BigInt(number) % 97n)).padStart(2, "0");
  const whole = country + check + account;
  return random.pick([whole, whole, whole.replace(/(.{4})(?=.)/g, "$1 "), whole.replace(/(.{4})(?=.)/g, "$1 "), whole.toLowerCase()]);
}

/** An IBAN of the right format with wrong check digits. */
export function notAnIban(random: SeededRandom): string {
  const value = iban(random);
  return value.slice(0, 2) + String(((Number(value.slice(2, 4)) + random.between(1, 90)) % 97) + 2).padStart(2, "0") + value.slice(4);
}
