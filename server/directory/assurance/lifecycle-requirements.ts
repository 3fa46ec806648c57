import type { LifecycleState, Requirement } from "@gatehouse/contracts/ai-systems";
import { hasEvidence } from "../../store/ai-system-evidence.ts";
import { activeContract, newestContract } from "../../store/ai-contracts.ts";
import { observationsOf } from "../../store/ai-observations.ts";
import { newestEpoch } from "../../store/drift-findings.ts";
import { gateFor } from "./replay-runs.ts";
import { type AiSystemRow, liveKeysOf } from "../../store/ai-systems.ts";
import type { Database, Trx } from "../../store/database.ts";
import { tenantStore } from "../../store/tenants.ts";
import { effectiveNoticeConfig } from "../notices/notice-configs.ts";

/** Six months, for which logs of high-risk systems are kept at least (EU AI Act, article 26(6)). */
const LOG_DAYS_OF_HIGH_RISK = 183;

interface Facts {
  readonly db: Database | Trx;
  readonly row: AiSystemRow;
  readonly now: Date;
}

type Check = (facts: Facts) => Requirement | Promise<Requirement>;

const requirement = (id: string, title: string, met: boolean, detail: string): Requirement => ({ id, title, met, detail });

/** A member of the record that somebody has to fill. */
const told =
  (member: "owner" | "purpose" | "role" | "risk_class" | "affected_people" | "oversight_person" | "data_classes", title: string): Check =>
  ({ row }) => {
    const value = row[member];
    const met = value !== null && value.length > 0;
    return requirement(member, title, met, met ? String(value) : `Set ${member} on the AI System.`);
  };

const permitted: Check = ({ row }) => {
  const met = row.risk_class !== "prohibited";
  return requirement(
    "permitted",
    "It is no prohibited practice",
    met,
    met ? "Its risk class is not prohibited." : "A prohibited practice goes no further (EU AI Act, article 5).",
  );
};

const impactAssessed: Check = async ({ db, row, now }) => {
  const title = "Its impact is assessed";
  if (row.risk_class !== "high") return requirement("impact_assessment", title, true, "Needed of high-risk systems only.");
  const met = await hasEvidence(db, row.tenant_id, row.id, "impact_assessment", now);
  return requirement(
    "impact_assessment",
    title,
    met,
    met ? "There is evidence that holds now." : "Attach evidence of kind impact_assessment that is valid now.",
  );
};

const noticeGiven: Check = async ({ db, row }) => {
  const title = "People are told that it is an AI";
  if (row.interacts_with_people === null)
    return requirement("notice", title, false, "Say with interacts_with_people whether people talk with it.");
  if (!row.interacts_with_people) return requirement("notice", title, true, "Nobody talks with it.");
  const { enabled, exemption } = await effectiveNoticeConfig({ db: db as Database }, row.tenant_id, row.id);
  const met = enabled || exemption?.asserted === true;
  return requirement(
    "notice",
    title,
    met,
    met ? "A notice is in force, or an exemption is asserted." : "Switch the AI notice on, or assert an exemption.",
  );
};

const contract =
  (id: string, title: string, states: readonly string[], detail: string): Check =>
  async ({ db, row }) => {
    const found = await newestContract(db, row.tenant_id, row.id, states);
    return requirement(id, title, found !== undefined, found === undefined ? detail : `Version ${found.version} is ${found.state}.`);
  };

const keyBound: Check = async ({ db, row, now }) => {
  const live = await liveKeysOf(db, row.tenant_id, row.id, now);
  return requirement(
    "live_key",
    "Somebody can call it",
    live > 0,
    live > 0 ? `${live} keys open its group.` : "Make an API key in its resource group.",
  );
};

const keysUnbound: Check = async ({ db, row, now }) => {
  const live = await liveKeysOf(db, row.tenant_id, row.id, now);
  return requirement(
    "keys_unbound",
    "No key opens it any more",
    live === 0,
    live === 0 ? "No key opens its group." : `Revoke the ${live} keys of its group.`,
  );
};

const logsKept: Check = async ({ db, row }) => {
  const title = "Its log is kept for six months";
  if (row.risk_class !== "high") return requirement("log_retention", title, true, "Needed of high-risk systems only.");
  const days = (await tenantStore.find(db, null, row.tenant_id))?.data_retention.log_days ?? 0;
  const met = days >= LOG_DAYS_OF_HIGH_RISK;
  return requirement(
    "log_retention",
    title,
    met,
    met
      ? `Rows are kept for ${days} days.`
      : `Set log_days of the tenant's data_retention to ${LOG_DAYS_OF_HIGH_RISK} or more; it is ${days}.`,
  );
};

const DAY_MS = 86_400_000;
/** A system that was called for so long and so seldom has no normal that anybody could tell. */
const LEARNED_WITHIN_DAYS = 30;
const FEWEST_CALLS = 200;

const known: Check = async ({ db, row, now }) => {
  const title = "What is normal for it is known, or being learned";
  const epoch = await newestEpoch(db, row.tenant_id, row.id);
  if (epoch !== undefined) return requirement("baseline", title, true, `Baseline epoch ${epoch.epoch} is frozen.`);
  const calls = (await observationsOf(db, row.tenant_id, row.id)).find(({ kind }) => kind === "call");
  if (calls === undefined)
    return requirement("baseline", title, true, `It is learned from its first call on, for ${LEARNED_WITHIN_DAYS} days at most.`);
  const until = new Date(calls.first_seen.getTime() + LEARNED_WITHIN_DAYS * DAY_MS);
  const met = now < until || calls.calls >= FEWEST_CALLS;
  const detail = met
    ? `It is learned until ${until.toISOString()} at the latest.`
    : `Learning ended ${until.toISOString()} with ${calls.calls} calls; ${FEWEST_CALLS} are needed.`;
  return requirement("baseline", title, met, detail);
};

const replayed: Check = async ({ db, row, now }) => {
  const title = "Replays speak for its contract";
  const active = await activeContract(db, row.tenant_id, row.id);
  const { verdict, reasons } = await gateFor(db, row.tenant_id, row.id, active?.digest ?? null, now);
  if (verdict === "no_suite") return requirement("replay_gate", title, true, "No replay suite is frozen.");
  if (verdict === "passed") return requirement("replay_gate", title, true, "The gate is passed for the contract in force.");
  const overridden = active?.gate_override ?? null;
  if (overridden !== null)
    return requirement("replay_gate", title, true, `The gate says ${verdict}, and ${overridden.admin ?? "somebody"} overrode it.`);
  return requirement(
    "replay_gate",
    title,
    false,
    `The gate says ${verdict}: ${reasons.join(" ")} Run the suite under the contract in force.`,
  );
};

const ACTIVE = contract("contract_active", "Its contract is promoted", ["active"], "Promote an approved version of its contract.");

const ASSESSED: readonly Check[] = [
  told("owner", "Somebody answers for it"),
  told("purpose", "Its purpose is told"),
  told("role", "The tenant's role is told"),
  told("risk_class", "Its risk is classified"),
  told("data_classes", "The kinds of data it handles are told"),
  told("affected_people", "Whom it affects is told"),
];

const OVERSEEN: readonly Check[] = [permitted, impactAssessed, told("oversight_person", "Somebody oversees it"), noticeGiven];

/** What each state needs, whichever state it is entered from: whoever comes back from a suspension is held to all that service needs. */
const NEEDED: Record<LifecycleState, readonly Check[]> = {
  registered: [],
  assessed: ASSESSED,
  approved: [
    contract("contract_approved", "Its contract is approved", ["approved", "active"], "Mint a contract and have somebody else approve it."),
    ...OVERSEEN,
  ],
  in_service: [...ASSESSED, ...OVERSEEN, ACTIVE, known, replayed, keyBound, logsKept],
  restricted: [],
  suspended: [],
  retired: [keysUnbound],
};

export async function requirementsOf(db: Database | Trx, row: AiSystemRow, to: LifecycleState, now: Date): Promise<Requirement[]> {
  const found: Requirement[] = [];
  for (const check of NEEDED[to]) found.push(await check({ db, row, now }));
  return found;
}
