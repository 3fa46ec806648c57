import { describe, expect, test } from "bun:test";
import { DEFAULT_PII_CATEGORIES, PII_CATEGORIES } from "@gatehouse/contracts/guardrails";
import fc from "fast-check";
import { logLines } from "../../../../../tests/corpora/log-lines.ts";
import { HoldBack } from "../../answers/hold-back.ts";
import { redactText } from "../../redact.ts";
import { compileTextGuard, type PiiCategory, type TextGuard } from "../../text-guard.ts";

function guardOf(categories: readonly PiiCategory[]): TextGuard {
  const guard = compileTextGuard({ pii: { action: "redact", categories } });
  if ("problems" in guard) throw new Error(JSON.stringify(guard.problems));
  return guard;
}

const ADDED = PII_CATEGORIES.filter((name) => !(DEFAULT_PII_CATEGORIES as readonly string[]).includes(name));
const all = guardOf(ADDED);

/** Values published as examples, each in the ways in which it is written. `{}` marks the value. */
const FOUND: Readonly<Partial<Record<PiiCategory, readonly string[]>>> = {
  uk_nino: ["my number is {QQ123456C}".replace("QQ", "AB"), "{AB 12 34 56 C}", "NINO: {AB 123456 C}".replace("AB 123456 C", "AB123456C")],
  uk_nhs: ["NHS number {943 476 5919}", "nhs_number={9434765919}", "patientNhs: {943-476-5919}"],
  de_tax_id: ["Steuer-ID {86095742719}", "steuerliche Identifikationsnummer: {86 095 742 719}"],
  fr_nir: ["{2 55 08 14 168 025 38}", "{255081416802538}"],
  es_dni: ["{12345678Z}", "DNI {12345678-Z}", "NIE {X-1234567-L}", "{X1234567L}", "DNI {12.345.678-Z}"],
  it_codice_fiscale: ["{RSSMRA85T10A562S}", "cf {rssmra85t10a562s}"],
  pl_pesel: ["PESEL {44051401359}"],
  nl_bsn: ["BSN {111222333}", "burgerservicenummer {111 222 333}", "customerBsn={111222333}"],
  be_national_number: ["{85.07.30-033.28}", "rijksregisternummer {85073003328}"],
  se_personnummer: ["{811218-9876}", "{19811218-9876}", "personnummer {8112189876}"],
  fi_hetu: ["{131052-308T}"],
  pt_nif: ["NIF {123456789}", "contribuinte {123 456 789}"],
  at_svnr: ["SVNR {1237 010180}"],
  ch_ahv: ["{756.9217.0769.85}", "AHV {7569217076985}"],
  us_itin: ["{912-70-1234}", "ITIN {912701234}"],
  us_mbi: ["{1EG4-TE5-MK73}", "{1EG4TE5MK73}"],
  us_npi: ["NPI {1234567893}"],
  us_dea: ["DEA {AB1234563}"],
  us_routing_number: ["routing number {021000021}"],
  ca_sin: ["SIN {046 454 286}", "social insurance number {046-454-286}"].map((one) =>
    one.replace("046", "130").replace("454", "692").replace("286", "544"),
  ),
  mx_curp: ["{HEGG560427MVZRRL04}"],
  br_cpf: ["{529.982.247-25}", "CPF {52998224725}"],
  br_cnpj: ["{11.222.333/0001-81}", "CNPJ {11222333000181}"],
  in_aadhaar: ["{2345 6789 0124}", "Aadhaar {234567890124}"],
  in_pan: ["PAN {ABCPE1234F}", "{ABCPE1234F}"],
  au_tfn: ["TFN {123 456 782}"],
  au_medicare: ["Medicare {2123 45670 1}"],
  au_abn: ["{51 824 753 556}", "ABN {51824753556}"],
  sg_nric: ["{S1234567D}"],
  jp_my_number: ["マイナンバー {1234 5678 9018}"],
  kr_rrn: ["{900101-1234568}"],
  cn_resident_id: ["{11010519491231002X}"],
  passport: ["passport no. {C01X00T47}".replace("C01X00T47", "533380006"), "Reisepass {C4712345}"],
  driver_license: ["driver's license {D1234562}", "driver license number: {A123-4567-8901}".replace("A123-4567-8901", "A123-4567-890")],
  date_of_birth: [
    "born on {12 May 1985}",
    "DOB: {1985-05-12}",
    "geboren am {12.05.1985}",
    "Date of birth {05/12/1985}",
    "né le {12/05/1985}",
  ],
  eu_vat: ["{DE136695976}", "VAT {DE 136695976}", "{ATU13585627}", "{FR83404833048}", "{IT07643520567}"],
  vin: ["{1HGCM82633A004352}", "VIN {1M8GDM9AXKP042788}"],
  ip_address: ["from {203.0.113.7}:443", "{2001:db8::ff00:42:8329}", "{fe80::1}"],
  mac_address: ["{00:1B:44:11:3A:B7}", "{00-1b-44-11-3a-b7}"],
  url_credentials: ["postgres://{app:s3cr3tpw}@db.example.com/x", "https://{joe:hunter22}@db.internal/"],
  crypto_wallet: [
    "{1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa}",
    "{bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4}",
    "{0xde0B295669a9FD93d5F28D9Ec85E40f4cb697BAe}",
  ],
  swift_bic: ["BIC: {DEUTDEFF}", "SWIFT code {NEDSZAJJ123}".replace("NEDSZAJJ123", "NEDSZAJJXXX")],
};

/** The same characters in full width, with spaces that do not break, and in Arabic digits. */
const DISGUISES: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  "full width": (text) => text.replaceAll(/[0-9]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0)),
  "Arabic digits": (text) => text.replaceAll(/[0-9]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) - 48 + 0x660)),
  "no-break spaces": (text) => text.replaceAll(" ", "\u00a0"),
};

describe.each(ADDED)("%s", (category) => {
  const examples = FOUND[category] ?? [];
  test("has examples", () => expect(examples).not.toEqual([]));

  test.each(examples)("is found alone and among all kinds: %s", (marked) => {
    const text = marked.replaceAll(/[{}]/g, "");
    for (const guard of [guardOf([category]), all])
      for (const disguise of Object.values(DISGUISES))
        for (const around of ["", " and more.", ", 12", "\n1"]) {
          const expected = disguise(marked + around).replace(/\{[^}]*\}/, `[REDACTED:${category}]`);
          expect([text, redactText(guard, disguise(text + around)).text]).toEqual([text, expected]);
        }
  });
});

test.each([
  "The meeting is on 2026-11-21 at 10:15, room 12345678.",
  "Invoice 11222333000182, order 52998224726, total 1,234,567.89",
  "version 10.0.12.7, v1.2.3.4, mask 255.255.255.0, localhost 127.0.0.1:8080",
  "std::vector a::b ::1 12:30:45 abc::def",
  "uuid 550e8400-e29b-41d4-a716-446655440000 commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
  "IMPORTANT DOCUMENT ABOUT MARKETING",
  "https://user:password@example.com https://$USER:$PASS@example.com http://example.com:8080/@joe",
  "mac 00:00:00:00:00:00 ff:ff:ff:ff:ff:ff",
  "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5",
  "call +49 30 901820 or 030 901820-0",
  "ISBN 978-3-16-148410-0, EAN 4006381333931, part 943 476 5919",
  "const NUMBERS = [123456789, 987654321, 111222333];",
])("nothing is found in %s", (text) => expect(redactText(all, text).text).toBe(text));

test("a text gives the same result however it arrives in pieces", () => {
  const examples = Object.values(FOUND).flatMap((some) => some.map((one) => one.replaceAll(/[{}]/g, "")));
  const word = fc.oneof(fc.constantFrom(...examples), fc.constantFrom("and", "AB ", "12 34", "x", "DE ", "-1", ".", ", ", " 7", "Carrots"));
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 6 }),
      fc.constantFrom("", " ", "\n"),
      fc.infiniteStream(fc.nat({ max: 9 })),
      (words, joint, cuts) => {
        const text = words.join(joint);
        const hold = new HoldBack(all);
        let out = "";
        let at = 0;
        for (const cut of cuts) {
          if (at >= text.length) break;
          out += hold.push(text.slice(at, at + cut + 1));
          at += cut + 1;
        }
        out += hold.end();
        expect(out).toBe(redactText(all, text).text);
      },
    ),
    { numRuns: 3_000 },
  );
});

test("few numbers of logs are taken for identifiers", () => {
  const lines = logLines(1, 3_000);
  const wrong = lines.flatMap((line) =>
    redactText(all, line).findings.filter(({ category }) => !["ip_address", "mac_address"].includes(category)),
  );
  expect(wrong.length / lines.length).toBeLessThan(0.005);
});
