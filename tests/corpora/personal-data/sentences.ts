import { SeededRandom } from "../random.ts";
import { LOCALES, type Locale } from "./locales.ts";
import { card, email, iban, notACard, notAnIban, ssn } from "./values.ts";

export type PersonalDataKind = "email" | "phone" | "credit_card" | "ssn" | "iban";

export interface LabelledSentence {
  readonly locale: string;
  readonly text: string;
  /** The personal data in `text`; null if the text only contains a lookalike. */
  readonly label: { readonly kind: PersonalDataKind; readonly start: number; readonly end: number } | null;
}

const HEX = "0123456789abcdef";

function uuid(random: SeededRandom): string {
  return [8, 4, 4, 4, 12].map((length) => random.text(HEX, length)).join("-");
}

/** Numbers and codes that are not personal data, in the formats most often mistaken for it. */
const LOOKALIKES: readonly ((random: SeededRandom) => string)[] = [
  (random) => random.digits("###-#######-#######"),
  (random) => random.digits("X#########"),
  (random) => random.digits("XX############XX"),
  (random) => random.digits("ORD-####-####-####"),
  (random) => random.digits("978-#-##-######-#"),
  (random) => random.digits("978##########"),
  uuid,
  (random) => random.text(HEX, random.pick([32, 40, 64])),
  (random) =>
    `${random.between(2001, 2029)}-0${random.between(1, 9)}-1${random.between(0, 9)}T1${random.between(0, 9)}:${random.between(10, 59)}:${random.between(10, 59)}Z`,
  (random) => `${random.between(10, 28)}.${random.between(10, 12)}.${random.between(1990, 2029)}`,
  (random) =>
    `${random.between(10, 12)}/${random.between(10, 28)}/${random.between(1990, 2029)} ${random.between(10, 23)}:${random.between(10, 59)}`,
  (random) => random.digits("17########"),
  (random) => random.digits("17###########"),
  (random) => `v${random.between(1, 30)}.${random.between(0, 99)}.${random.between(0, 9999)}-rc.${random.between(1, 9)}`,
  (random) => `${random.between(1, 40)}.${random.between(0, 99)}.${random.between(1000, 9999)}.${random.between(10, 99)}`,
  (random) => `$${random.between(1, 999)},${random.digits("###")},${random.digits("###")}.00`,
  (random) => `${random.between(1, 9)} ${random.digits("###")} ${random.digits("###")} \u20ac`,
  (random) => Array.from({ length: 4 }, () => random.between(1, 254)).join("."),
  (random) => `${random.between(10, 89)}.${random.digits("######")}, ${random.between(10, 89)}.${random.digits("######")}`,
  (random) => random.digits("AB-###-###-####"),
  (random) => random.digits("1Z999AA1##########"),
  (random) => random.digits("000-##-####"),
  (random) => random.digits("9##-##-####"),
  (random) => random.digits("666-##-####"),
  notACard,
  notAnIban,
  (random) => `user@${random.pick(["localhost", "host", "10.0.0.1"])}`,
  (random) => `@${random.pick(["angular/core", "types/node", "team"])}@${random.between(1, 20)}.${random.between(0, 9)}.0`,
  (random) => `logo@${random.between(2, 3)}x.png`,
  (random) => `${random.between(100, 999)}x${random.between(100, 999)}`,
  (random) => `${random.digits("X##")} of ${random.digits("X###")}`,
  (random) => `0x${random.text(HEX, 16)}`,
];

function phoneOf(locale: Locale, random: SeededRandom): string {
  return random.digits(random.pick(locale.phones));
}

function labelled(locale: Locale, kind: PersonalDataKind, template: string, value: string): LabelledSentence {
  const start = template.indexOf("{}");
  return { locale: locale.name, text: template.replace("{}", () => value), label: { kind, start, end: start + value.length } };
}

/** Gives `perLocale` sentences for each locale. Half contain personal data, each kind in turn; the other half only lookalikes. */
export function personalDataSentences(seed: number, perLocale: number): LabelledSentence[] {
  const random = new SeededRandom(seed);
  return LOCALES.flatMap((locale) =>
    Array.from({ length: perLocale }, (_, i): LabelledSentence => {
      switch (i % 10) {
        case 0:
          return labelled(locale, "email", random.pick(locale.email), email(random));
        case 1:
          return labelled(locale, "phone", random.pick(locale.phone), phoneOf(locale, random));
        case 2:
          return labelled(locale, "credit_card", random.pick(locale.card), card(random));
        case 3:
          return labelled(locale, "ssn", random.pick(locale.ssn), ssn(random, random.pick(["-", "-", "-", " ", ""])));
        case 4:
          return labelled(locale, "iban", random.pick(locale.iban), iban(random));
        default:
          return { locale: locale.name, text: random.pick(locale.order).replace("{}", () => random.pick(LOOKALIKES)(random)), label: null };
      }
    }),
  );
}
