import type { ComplianceItem, GdprStatements } from "@gatehouse/contracts/compliance";
import { statementsOf } from "./gdpr-statements.ts";
import type { TableRow } from "../../store/compliance/compliance-facts.ts";
import {
  checkpointsOf,
  type ComplianceFacts,
  guarded,
  guardrailsOf,
  item,
  type JudgedItem,
  keptFor,
  logOf,
  NOT_FROM_HERE,
  regions,
  residency,
  retentionOf,
  rowsOf,
  seen,
  signed,
} from "./facts.ts";

const SIX_YEARS = 2192;

export function hipaaItems(facts: ComplianceFacts, groups: number, access: readonly TableRow[]): ComplianceItem[] {
  const total = (rows: readonly TableRow[]) => ({
    kind: "audit_rows" as const,
    ref: (rows.map(({ first_row: first }) => first).toSorted()[0] ?? null) as string | null,
    count: rows.reduce((sum, { calls }) => sum + Number(calls), 0),
  });
  const shared = access.filter(({ user_id: user }) => user === null);
  const held = (status: JudgedItem): JudgedItem =>
    groups === 0 ? ["not_applicable", "No resource group is marked as handling health information."] : status;
  const unique: JudgedItem =
    access.length === 0
      ? ["no_data", "Nobody called through these groups."]
      : shared.length > 0
        ? ["partial", "Some calls came with an API key and name no person."]
        : ["met", "Every call names a person."];
  return [
    item("164.312(a)(2)(i)", "Unique user identification", held(unique), total(access), total(shared)),
    item("164.312(a)(2)(ii)", "Emergency access procedure", held(NOT_FROM_HERE)),
    item("164.312(a)(2)(iii)", "Automatic logoff", held(NOT_FROM_HERE)),
    item("164.312(a)(2)(iv)", "Encryption and decryption", held(NOT_FROM_HERE)),
    item("164.312(b)", "Audit controls", held(seen(access.length, "Each access left a row.", "Nobody called.")), total(access)),
    item("164.312(c)(1)", "Integrity", held(signed(facts)), checkpointsOf(facts)),
    item("164.312(d)", "Person or entity authentication", held(unique), rowsOf(facts, "denied")),
    item("164.312(e)(1)", "Transmission security", held(NOT_FROM_HERE)),
    item("164.316(b)(2)", "Kept for six years", held(keptFor(facts, SIX_YEARS)), retentionOf(facts)),
  ];
}

/** Quotes the tenant's own text without judging whether it is true or sufficient. */
function answeredBy(facts: ComplianceFacts, ...names: readonly (keyof GdprStatements)[]): JudgedItem {
  const statements = statementsOf(facts.tenant);
  const statementTexts = names.flatMap((name) => (statements[name] === null ? [] : [`${name.replaceAll("_", " ")}: ${statements[name]}`]));
  if (statementTexts.length === 0) return ["no_data", "The tenant wrote nothing of it."];
  return [statementTexts.length === names.length ? "met" : "partial", `As the tenant wrote: ${statementTexts.join("; ")}`];
}

export function gdprItems(facts: ComplianceFacts, recipients: readonly TableRow[]): ComplianceItem[] {
  const received = recipients.reduce((sum, { calls }) => sum + Number(calls), 0);
  const first = recipients.map(({ first_row: row }) => row).toSorted()[0] ?? null;
  return [
    item(
      "Article 30(1)(a)",
      "Controller, representative and data protection officer",
      answeredBy(facts, "controller", "data_protection_officer"),
    ),
    item("Article 30(1)(b)", "Purposes", answeredBy(facts, "purposes")),
    item(
      "Article 30(1)(c)",
      "Categories of people and of personal data",
      answeredBy(facts, "data_subjects", "personal_data"),
      rowsOf(facts, "personal"),
    ),
    item(
      "Article 30(1)(d)",
      "Recipients",
      seen(received, "The table names each recipient that was called.", "Nothing was sent to anybody."),
      { kind: "audit_rows", ref: first as string | null, count: received },
    ),
    item("Article 30(1)(e)", "Transfers to third countries", regions(facts), ...residency(facts)),
    item(
      "Article 30(1)(f)",
      "Time limits for erasure",
      ["met", `Bodies are kept ${facts.tenant.data_retention.body_days} days, rows ${facts.tenant.data_retention.log_days}.`],
      retentionOf(facts),
      logOf(facts, "data-erasure"),
    ),
    item("Article 30(1)(g)", "Technical and organisational security measures", guarded(facts), guardrailsOf(facts), checkpointsOf(facts)),
  ];
}
