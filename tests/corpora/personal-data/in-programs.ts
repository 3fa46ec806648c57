import { SeededRandom } from "../random.ts";
import { card, ssn } from "./values.ts";
import type { LabelledSentence } from "./sentences.ts";

/** Personal data as it appears in programs, tables and logs: next to field names, in quotes and in columns, not in sentences. */

const SSN_NAMES = [
  "employeeSsn",
  "customer_ssn",
  "SSN_NUMBER",
  "ssn",
  "SSN",
  "Ssn",
  "ssnNumber",
  "ssn_number",
  "ssn_no",
  "userSSN",
  "emp.ssn",
  "socialSecurityNumber",
  "social_security_number",
  "SOCIAL_SECURITY_NUMBER",
  "SocialSecurityNo",
  "taxpayer_id",
  "taxId",
  "tax_id",
  "ss_num",
  "patientSsn",
  "borrower_ssn_1",
  "applicantSSN",
  "soc_sec_no",
  "SS#",
  "SSN#",
  "SSN No.",
];
const CARD_NAMES = ["cardNumber", "card_number", "CARD_NO", "creditCard", "cc_num", "ccNumber", "pan", "payment.card.number", "debit_card"];
const PHONE_NAMES = ["phone", "phoneNumber", "mobile_number", "customer_phone", "contactNumber", "TEL", "fax", "cellPhone", "home_phone"];
const PHONES = [
  "N##-N##-####",
  "(N##) N##-####",
  "+1N##N######",
  "+1 N## N## ####",
  "+44 7### ######",
  "+49 171 #######",
  "+33 6 ## ## ## ##",
];

const JOINTS = [": ", "=", '":"', '": ', "': '", " = ", ":", '="', " => ", "\t"];
const BEFORE = ["", '{"a":1,"', "  ", "export ", "var ", "row 7: "];
const BEHIND = ["", '"', "}", "\n", ";", " ok", '",', "</x>"];

/** Tabular text that contains a number with dashes in place of `{}`. */
const SSN_TABLES = [
  "ID: {}",
  "Employee ID: {}",
  "id={}",
  "name,ssn,dob\nJohn Doe,{},1980-01-02",
  "id,name,ssn\n1001,John,{}",
  "id,ssn,name\n1001,{},John",
  "1001,{},1985-01-01",
  "ssn,phone\n{},415-555-0132",
  "Doe, John | {} | 1980",
  "id\tssn\n5\t{}",
  "Identification: {}",
];

const HEX = "0123456789abcdef";

/** Values that look like personal data next to field names that say they are not. */
const OTHERS: readonly ((random: SeededRandom) => string)[] = [
  (random) => `order_id=${card(random)}`,
  (random) => `orderId: ${card(random)}`,
  (random) => `customerOrderId=${card(random)}`,
  (random) => `"transactionId": "${card(random)}"`,
  (random) => `SESSION_ID=${card(random)}`,
  (random) => `"order_id":${random.digits("#########")}`,
  (random) => `trackingNumber: ${random.digits("9400##################")}`,
  (random) => random.digits("tracking 1Z999AA1##########"),
  (random) => random.digits("ISBN 978-#-####-####-#"),
  (random) => random.digits("className=#########"),
  (random) => random.digits("SKU ###-##-####"),
  (random) => random.digits("part no ###-##-####"),
  (random) => random.digits("zip #####-####"),
  (random) => random.digits("pid=##### tid=#########"),
  (random) => random.digits("ts=17########"),
  (random) => random.digits("2026-01-1#T10:##:##.###Z"),
  (random) => `commit ${random.text(HEX, 40)}`,
  (random) => [8, 4, 4, 4, 12].map((length) => random.text(HEX, length)).join("-"),
  (random) => random.text(HEX, 64),
  (random) => random.digits("v##.##.####"),
  (random) => random.digits("size: ######### bytes"),
  (random) => random.digits("lat 4#.######, -7#.######"),
  (random) => random.digits("user_id: 1#################"),
  (random) => random.digits("count=#########"),
  (random) => random.digits("seed=##########"),
];

function placed(kind: NonNullable<LabelledSentence["label"]>["kind"], before: string, value: string, behind: string): LabelledSentence {
  const start = before.length;
  return { locale: "programs", text: before + value + behind, label: { kind, start, end: start + value.length } };
}

export function personalDataInPrograms(seed: number, count: number): LabelledSentence[] {
  const random = new SeededRandom(seed);
  const named = (names: readonly string[]) => random.pick(BEFORE) + random.pick(names) + random.pick(JOINTS);
  return Array.from({ length: count }, (_, i): LabelledSentence => {
    switch (i % 8) {
      case 0:
        return placed("ssn", named(SSN_NAMES), ssn(random, random.pick(["-", "", " "])), random.pick(BEHIND));
      case 1: {
        const [before = "", behind = ""] = random.pick(SSN_TABLES).split("{}");
        return placed("ssn", before, ssn(random, "-"), behind);
      }
      case 2:
        return placed("credit_card", named(CARD_NAMES), card(random), random.pick(BEHIND));
      case 3:
        return placed("phone", named(PHONE_NAMES), random.digits(random.pick(PHONES)), random.pick(BEHIND));
      default:
        return { locale: "programs", text: random.pick(OTHERS)(random), label: null };
    }
  });
}
