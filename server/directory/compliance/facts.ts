import type { ComplianceEvidence, ComplianceItem } from "@gatehouse/contracts/compliance";
import { chainFaults, type KnownFault } from "../../store/ledger/chain-faults.ts";
import {
  countAdminLog,
  countCheckpoints,
  type Counted,
  countEnabledGuardrails,
  countRows,
  type RowFact,
} from "../../store/compliance/compliance-facts.ts";
import type { FactWindow } from "../../store/compliance/fact-window.ts";
import type { Trx } from "../../store/database.ts";
import { readComplianceState, type Standing } from "../../store/compliance/compliance-standing.ts";
import { tenantStore, type TenantRow } from "../../store/tenants/tenants.ts";
import { faultInWords } from "../assurance/chain-verdicts.ts";
import { NO_PASSWORD } from "../people/no-password.ts";
import { notFound } from "../writes/records.ts";

/** An item's status and the reason for it. */
export type JudgedItem = readonly [ComplianceItem["status"], string];

/** The facts that all reports are built from, read once. */
export interface ComplianceFacts {
  readonly trx: Trx;
  readonly window: FactWindow;
  readonly tenant: TenantRow;
  readonly rows: Readonly<Record<RowFact, Counted>>;
  readonly log: ReadonlyMap<string, Counted>;
  readonly checkpoints: number;
  /** Chains that failed verification. */
  readonly faults: readonly KnownFault[];
  readonly guardrails: number;
  readonly standing: Standing;
}

export async function reportedTenant(trx: Trx, { tenantId }: FactWindow): Promise<TenantRow> {
  const tenant = await tenantStore.find(trx, null, tenantId);
  if (tenant === undefined) throw notFound("tenant");
  return tenant;
}

export async function gatherFacts(trx: Trx, window: FactWindow): Promise<ComplianceFacts> {
  const tenant = await reportedTenant(trx, window);
  return {
    trx,
    window,
    tenant,
    rows: await countRows(trx, window),
    log: await countAdminLog(trx, window),
    checkpoints: await countCheckpoints(trx, window),
    faults: await chainFaults(trx, window.tenantId),
    guardrails: await countEnabledGuardrails(trx, window.tenantId),
    standing: await readComplianceState(trx, window, tenant.data_retention, NO_PASSWORD),
  };
}

export const rowsOf = ({ rows }: ComplianceFacts, fact: RowFact): ComplianceEvidence => ({
  kind: "audit_rows",
  ref: rows[fact].first,
  count: rows[fact].count,
});

/** Admin log entries about these resources, or about all if none is named. */
export function logOf({ log }: ComplianceFacts, ...resources: string[]): ComplianceEvidence {
  const found = [...log].filter(([resource]) => resources.length === 0 || resources.includes(resource)).map(([, counted]) => counted);
  const firsts = found.flatMap(({ first }) => first ?? []).sort();
  return { kind: "admin_log", ref: firsts[0] ?? null, count: found.reduce((sum, { count }) => sum + count, 0) };
}

export const checkpointsOf = ({ checkpoints }: ComplianceFacts): ComplianceEvidence => ({
  kind: "checkpoints",
  ref: "all chains",
  count: checkpoints,
});
export const guardrailsOf = ({ guardrails }: ComplianceFacts): ComplianceEvidence => ({
  kind: "configuration",
  ref: "guardrail-configs",
  count: guardrails,
});
export const retentionOf = ({ tenant }: ComplianceFacts): ComplianceEvidence => ({
  kind: "retention",
  ref: "data_retention.log_days",
  count: tenant.data_retention.log_days,
});

export const item = (control: string, title: string, [status, reason]: JudgedItem, ...evidence: ComplianceEvidence[]): ComplianceItem => ({
  control,
  title,
  status,
  reason,
  evidence,
});

export const NOT_FROM_HERE = ["no_data", "The gateway holds nothing on this; it is shown by documents of your own."] as const;

/** Met if anything was counted, otherwise no data. */
export const seen = (counted: number, whenSeen: string, whenNot: string): JudgedItem =>
  counted > 0 ? ["met", whenSeen] : ["no_data", whenNot];

/** Met if rows are retained for at least this many days. */
export const keptFor = ({ tenant }: ComplianceFacts, days: number): JudgedItem =>
  tenant.data_retention.log_days >= days
    ? ["met", `Rows are kept ${tenant.data_retention.log_days} days; ${days} are asked for.`]
    : ["not_met", `Rows are kept ${tenant.data_retention.log_days} days; ${days} are asked for.`];

export const guarded = ({ guardrails }: ComplianceFacts): JudgedItem =>
  guardrails > 0
    ? ["met", "Guardrails are switched on; the rows are those on which one found something."]
    : ["not_met", "No guardrail is switched on."];

export const NO_CALLS = "No call was made.";

/** The given status, unless a verification found the record altered. */
function unaltered({ faults }: ComplianceFacts, status: JudgedItem): JudgedItem {
  const open = faults.find(({ acknowledged }) => acknowledged === null);
  if (open !== undefined) return ["not_met", `${faultInWords(open)}.`];
  const [known] = faults;
  if (known === undefined) return status;
  return [status[0] === "met" ? "partial" : status[0], `${status[1]} ${faultInWords(known)}`];
}

export const logged = (facts: ComplianceFacts) => unaltered(facts, seen(facts.rows.calls.count, "Each call left a row.", NO_CALLS));
export const signed = (facts: ComplianceFacts) =>
  unaltered(
    facts,
    seen(facts.checkpoints, "Checkpoints over the chains were signed; verify a chain for its verdict.", "No checkpoint was signed."),
  );
export const regions = ({ tenant, rows }: ComplianceFacts): JudgedItem => {
  if (tenant.allowed_regions.length === 0) return ["no_data", "The tenant allows every region: where content goes is held to nothing."];
  const unknown = rows.regionUnknown.count;
  return unknown > 0
    ? ["partial", `Calls are held to ${tenant.allowed_regions.join(", ")}; of ${unknown} the region was not evaluated.`]
    : ["met", `Calls are held to ${tenant.allowed_regions.join(", ")}.`];
};
export const residency = (facts: ComplianceFacts) => [
  rowsOf(facts, "regionAllowed"),
  rowsOf(facts, "regionBlocked"),
  rowsOf(facts, "regionUnknown"),
];
/** Admin log entries about these resources, or about all if none is named. */
export const changed = (facts: ComplianceFacts, ...resources: string[]) =>
  seen(logOf(facts, ...resources).count, "Every change stands in the admin log.", "Nothing was changed.");
/** Partial at best: entries here contribute, but sufficiency must be shown elsewhere. */
export const noted = (facts: ComplianceFacts, ...resources: string[]): JudgedItem => {
  const { count } = logOf(facts, ...resources);
  return count === 0
    ? ["no_data", "Nothing on this was recorded; it is shown by documents of your own."]
    : ["partial", `The admin log has ${count} ${count === 1 ? "entry" : "entries"} on this; the rest is shown by documents of your own.`];
};
