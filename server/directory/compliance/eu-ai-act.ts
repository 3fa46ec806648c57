import type { ComplianceItem } from "@gatehouse/contracts/compliance";
import type { TableRow } from "../../store/compliance/compliance-facts.ts";
import { noticeBeforeFirstTurn } from "../../store/people/notices.ts";
import {
  checkpointsOf,
  type ComplianceFacts,
  guarded,
  guardrailsOf,
  item,
  keptFor,
  logged,
  logOf,
  NO_CALLS,
  NOT_FROM_HERE,
  noted,
  retentionOf,
  rowsOf,
  seen,
} from "./facts.ts";

/** When the duties of each tier take effect. Annex I products have until 2 August 2028. */
const APPLIES_FROM: Readonly<Record<string, string | null>> = {
  prohibited: "2025-02-02",
  high: "2027-12-02",
  limited: "2026-08-02",
  minimal: null,
};
const SIX_MONTHS = 183;

export const withDates = (systems: readonly TableRow[]): TableRow[] =>
  systems.map((system) => ({ ...system, applies_from: APPLIES_FROM[String(system.risk_tier)] ?? null }));

/** Conversations that had their first answer, and how many of them had the notice before it. */
interface NoticesGiven {
  readonly met: number;
  readonly of: number;
}

export async function countNotices({ trx, window }: ComplianceFacts): Promise<NoticesGiven> {
  const [from, to] = [window.from.toISOString(), window.to.toISOString()];
  const noticed = await noticeBeforeFirstTurn(trx, window.tenantId, { from, to, systemId: null });
  return { met: noticed.filter(({ met }) => met).length, of: noticed.length };
}

export function euAiActItems(facts: ComplianceFacts, systems: readonly TableRow[], notices: NoticesGiven): ComplianceItem[] {
  const called = systems.filter(({ calls }) => Number(calls) > 0);
  const prohibited = called.filter(({ risk_tier: tier }) => tier === "prohibited");
  const unclassified = called.filter(({ risk_tier: tier }) => tier === null);
  const evidence = (rows: readonly TableRow[]) => ({
    kind: "audit_rows" as const,
    ref: (rows.map(({ first_row: first }) => first).toSorted()[0] ?? null) as string | null,
    count: rows.reduce((sum, { calls }) => sum + Number(calls), 0),
  });
  return [
    item("Article 4", "AI literacy (from 2 February 2025)", NOT_FROM_HERE),
    item(
      "Article 5",
      "Prohibited practices (from 2 February 2025; points (ba) and (bb) from 2 December 2026)",
      prohibited.length > 0
        ? ["not_met", "Groups classified as prohibited made calls."]
        : ["partial", "No group classified as prohibited made a call; whether one should be is not judged here."],
      evidence(prohibited),
    ),
    item(
      "Article 6",
      "Classification (Annex III from 2 December 2027, Annex I products from 2 August 2028)",
      called.length === 0
        ? ["no_data", "No resource group made a call."]
        : unclassified.length > 0
          ? ["partial", `${unclassified.length} of ${called.length} groups that made calls have no risk tier.`]
          : ["met", "Every group that made calls has a risk tier."],
      evidence(unclassified),
      logOf(facts, "resource-groups"),
    ),
    item(
      "Article 9, 15",
      "Risk management, accuracy and robustness (from 2 December 2027)",
      guarded(facts),
      guardrailsOf(facts),
      rowsOf(facts, "guarded"),
    ),
    item("Article 12", "Record-keeping (from 2 December 2027)", logged(facts), rowsOf(facts, "calls"), checkpointsOf(facts)),
    item("Article 13", "Information to deployers (from 2 December 2027)", noted(facts, "ai-contracts"), logOf(facts, "ai-contracts")),
    item(
      "Article 14",
      "Human oversight (from 2 December 2027)",
      seen(facts.rows.approved.count, "Actions were carried out after a person approved them.", "No action was approved by a person."),
      rowsOf(facts, "approved"),
    ),
    item("Article 19, 26(6)", "Logs kept for six months (from 2 December 2027)", keptFor(facts, SIX_MONTHS), retentionOf(facts)),
    item("Article 26", "Other duties of deployers (from 2 December 2027)", NOT_FROM_HERE),
    item("Article 27", "Fundamental rights impact assessment (from 2 December 2027)", NOT_FROM_HERE),
    item(
      "Article 50(1)",
      "People are told of the AI (from 2 August 2026)",
      notices.of === 0
        ? ["no_data", "No conversation had its first answer."]
        : notices.met === notices.of
          ? ["met", "Every conversation had the notice before its first answer."]
          : ["partial", `${notices.met} of ${notices.of} conversations had the notice before their first answer.`],
      { kind: "notices", ref: "/v1/admin/notice-config/statement", count: notices.met },
    ),
    item(
      "Article 50(2)",
      "Output is marked as made by an AI (from 2 August 2026; from 2 December 2026 for systems that were on the market before)",
      facts.rows.models.count === 0
        ? ["no_data", NO_CALLS]
        : [
            "partial",
            "Answers of models carry the header X-Gw-AI-Generated; whether whoever shows them on marks them is not seen from here.",
          ],
      rowsOf(facts, "models"),
    ),
    item(
      "Article 72",
      "Post-market monitoring (from 2 December 2027)",
      noted(facts, "drift-findings", "incident-windows"),
      logOf(facts, "drift-findings", "incident-windows"),
    ),
    item(
      "Article 73",
      "Serious incidents are reported (from 2 December 2027)",
      noted(facts, "incident-windows"),
      logOf(facts, "incident-windows"),
    ),
  ];
}
