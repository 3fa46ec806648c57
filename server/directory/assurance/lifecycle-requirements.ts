import type { LifecycleState, Requirement } from "@gatehouse/contracts/ai-systems";
import { hasEvidence } from "../../store/assurance/ai-system-evidence.ts";
import { newestContract } from "../../store/assurance/ai-contracts.ts";
import { openWindowsOf } from "../../store/assurance/incident-windows.ts";
import { baselineKnown, replaysPassed } from "./learned-requirements.ts";
import { type LifecycleCheck, lifecycleRequirement } from "./lifecycle-check.ts";
import { type AiSystemRow, liveKeysOf } from "../../store/assurance/ai-systems.ts";
import type { Database, Trx } from "../../store/database.ts";
import { tenantStore } from "../../store/tenants/tenants.ts";
import { effectiveNoticeConfig } from "../notices/notice-configs.ts";

/** Six months: the minimum log retention for high-risk systems (EU AI Act, article 26(6)). */
const LOG_DAYS_OF_HIGH_RISK = 183;

/** Requires that a member of the record is filled in. */
const missing =
  (
    member: "owner" | "purpose" | "role" | "risk_class" | "affected_people" | "oversight_person" | "data_classes",
    title: string,
  ): LifecycleCheck =>
  ({ row }) => {
    const value = row[member];
    const met = value !== null && value.length > 0;
    return lifecycleRequirement(member, title, met, met ? String(value) : `Set ${member} on the AI System.`);
  };

const permitted: LifecycleCheck = ({ row }) => {
  const met = row.risk_class !== "prohibited";
  return lifecycleRequirement(
    "permitted",
    "It is no prohibited practice",
    met,
    met ? "Its risk class is not prohibited." : "A prohibited practice goes no further (EU AI Act, article 5).",
  );
};

const impactAssessed: LifecycleCheck = async ({ db, row, now }) => {
  const title = "Its impact is assessed";
  if (row.risk_class !== "high") return lifecycleRequirement("impact_assessment", title, true, "Needed of high-risk systems only.");
  const met = await hasEvidence(db, row.tenant_id, row.id, "impact_assessment", now);
  return lifecycleRequirement(
    "impact_assessment",
    title,
    met,
    met ? "There is evidence that holds now." : "Attach evidence of kind impact_assessment that is valid now.",
  );
};

const noticeGiven: LifecycleCheck = async ({ db, row }) => {
  const title = "People are told that it is an AI";
  if (row.interacts_with_people === null)
    return lifecycleRequirement("notice", title, false, "Say with interacts_with_people whether people talk with it.");
  if (!row.interacts_with_people) return lifecycleRequirement("notice", title, true, "Nobody talks with it.");
  const { enabled, exemption } = await effectiveNoticeConfig({ db: db as Database }, row.tenant_id, row.id);
  const met = enabled || exemption?.asserted === true;
  return lifecycleRequirement(
    "notice",
    title,
    met,
    met ? "A notice is in force, or an exemption is asserted." : "Switch the AI notice on, or assert an exemption.",
  );
};

const contract =
  (id: string, title: string, states: readonly string[], detail: string): LifecycleCheck =>
  async ({ db, row }) => {
    const found = await newestContract(db, row.tenant_id, row.id, states);
    return lifecycleRequirement(
      id,
      title,
      found !== undefined,
      found === undefined ? detail : `Version ${found.version} is ${found.state}.`,
    );
  };

const keyBound: LifecycleCheck = async ({ db, row, now }) => {
  const live = await liveKeysOf(db, row.tenant_id, row.id, now);
  return lifecycleRequirement(
    "live_key",
    "Somebody can call it",
    live > 0,
    live > 0 ? `${live} keys open its group.` : "Make an API key in its resource group.",
  );
};

const keysUnbound: LifecycleCheck = async ({ db, row, now }) => {
  const live = await liveKeysOf(db, row.tenant_id, row.id, now);
  return lifecycleRequirement(
    "keys_unbound",
    "No key opens it any more",
    live === 0,
    live === 0 ? "No key opens its group." : `Revoke the ${live} keys of its group.`,
  );
};

const incidentsClosed: LifecycleCheck = async ({ db, row, now }) => {
  const open = await openWindowsOf(db, row.tenant_id, row.id, now);
  return lifecycleRequirement(
    "incidents_closed",
    "No incident window of it is open",
    open.length === 0,
    open.length === 0
      ? "No incident window of it is open."
      : `Set ended_at of its incident windows, or withdraw them: ${open.map(({ title }) => title).join("; ")}`,
  );
};

const logsKept: LifecycleCheck = async ({ db, row }) => {
  const title = "Its log is kept for six months";
  if (row.risk_class !== "high") return lifecycleRequirement("log_retention", title, true, "Needed of high-risk systems only.");
  const days = (await tenantStore.find(db, null, row.tenant_id))?.data_retention.log_days ?? 0;
  const met = days >= LOG_DAYS_OF_HIGH_RISK;
  return lifecycleRequirement(
    "log_retention",
    title,
    met,
    met
      ? `Rows are kept for ${days} days.`
      : `Set log_days of the tenant's data_retention to ${LOG_DAYS_OF_HIGH_RISK} or more; it is ${days}.`,
  );
};

const ACTIVE = contract("contract_active", "Its contract is promoted", ["active"], "Promote an approved version of its contract.");

const ASSESSED: readonly LifecycleCheck[] = [
  missing("owner", "Somebody answers for it"),
  missing("purpose", "Its purpose is told"),
  missing("role", "The tenant's role is told"),
  missing("risk_class", "Its risk is classified"),
  missing("data_classes", "The kinds of data it handles are told"),
  missing("affected_people", "Whom it affects is told"),
];

const OVERSEEN: readonly LifecycleCheck[] = [permitted, impactAssessed, missing("oversight_person", "Somebody oversees it"), noticeGiven];

/** What each state requires, whichever state it is entered from: returning from suspension requires everything that service does. */
const NEEDED: Record<LifecycleState, readonly LifecycleCheck[]> = {
  registered: [],
  assessed: ASSESSED,
  approved: [
    contract("contract_approved", "Its contract is approved", ["approved", "active"], "Mint a contract and have somebody else approve it."),
    ...OVERSEEN,
  ],
  in_service: [...ASSESSED, ...OVERSEEN, ACTIVE, baselineKnown, replaysPassed, keyBound, logsKept],
  restricted: [],
  suspended: [],
  retired: [keysUnbound, incidentsClosed],
};

export async function requirementsOf(db: Database | Trx, row: AiSystemRow, to: LifecycleState, now: Date): Promise<Requirement[]> {
  const found: Requirement[] = [];
  for (const check of NEEDED[to]) found.push(await check({ db, row, now }));
  return found;
}
