import { SEVERITIES } from "@gatehouse/contracts/ai-drift";
import type {
  FiredResponse,
  ResponseAction,
  ResponsePolicy,
  ResponsePolicyCreate,
  ResponsePolicyUpdate,
  ResponsePreview,
} from "@gatehouse/contracts/ai-responses";
import { refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import { liveKeysOf, trafficOf } from "../../store/assurance/ai-systems.ts";
import { findingPage } from "../../store/assurance/drift-findings.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { descendantsOf } from "../../store/groups/resource-groups.ts";
import {
  activeResponses,
  endResponse,
  findResponsePolicy,
  insertResponse,
  insertResponsePolicy,
  livePolicies,
  otherSystemsSince,
  overResponses,
  removeResponsePolicy,
  responsePage,
  responsesTo,
  responsePolicyIdByName,
  responsePolicyPage,
  type ResponsePolicyRow,
  type ResponseRow,
  updateResponsePolicy,
} from "../../store/assurance/responses.ts";
import { notFound } from "../writes/records.ts";
import { sealRecord, systemAlone } from "../writes/sealed-record.ts";
import { type Directory, holdRecord, type Write } from "../writes/write.ts";
import { foundSystem, lockedSystem, refuseRetired } from "./ai-systems.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MAX_SHOWN = 100;

const EFFECTS: Record<ResponseAction, string> = {
  require_approval: "Somebody approves each of its actions before it happens.",
  block_tools: "It may ask models, and call no tool, no skill and no agent.",
  restrict: "It is left what its envelope names for `restricted`.",
  suspend: "Every call of it is refused.",
};

function readPolicy(row: ResponsePolicyRow, systemId: string | null): ResponsePolicy {
  const { tenant_id: _tenant, ...details } = row;
  return {
    ...details,
    inherited: systemId !== null && row.ai_system_id === null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  } as ResponsePolicy;
}

function readResponse(row: ResponseRow): FiredResponse {
  const { tenant_id: _tenant, ...fields } = row;
  return {
    ...fields,
    fired_at: row.fired_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
  } as FiredResponse;
}

export async function listResponsePolicies(
  { db }: Directory,
  tenantId: string,
  systemId: string | null,
  page: Page,
): Promise<Paged<ResponsePolicy>> {
  if (systemId !== null) await foundSystem(db, tenantId, systemId);
  const { items, total } = await responsePolicyPage(db, tenantId, systemId, page);
  return { items: items.map((row) => readPolicy(row, systemId)), total };
}

export async function readResponsePolicy({ db }: Pick<Directory, "db">, tenantId: string, id: string): Promise<ResponsePolicy> {
  const row = await findResponsePolicy(db, tenantId, id);
  if (row === undefined) throw notFound("response policy");
  return readPolicy(row, null);
}

async function refuseTakenName(write: Write, tenantId: string, name: string, id: string | null): Promise<void> {
  const takenBy = await responsePolicyIdByName(write.trx, tenantId, name);
  if (takenBy !== undefined && takenBy !== id)
    throw new Refused(refuse("conflict", "There is already a response policy of this name.", { extra: { existing_id: takenBy } }));
}

function sealPolicy(write: Write, row: ResponsePolicyRow, action: string, before?: ResponsePolicy): void {
  sealRecord(write, {
    tenantId: row.tenant_id,
    system: systemAlone(row.ai_system_id),
    action,
    resource: "response-policies",
    resource_id: row.id,
    ...(before === undefined ? {} : { before }),
    context: { record_type: "ai.gw.response-policy", ...readPolicy(row, null) },
  });
}

/** Applies to one system, or to all of the tenant's if `systemId` is null. */
export async function armResponsePolicy(
  write: Write,
  tenantId: string,
  systemId: string | null,
  body: ResponsePolicyCreate,
): Promise<ResponsePolicy> {
  if (systemId !== null) refuseRetired(await lockedSystem(write, tenantId, systemId));
  await refuseTakenName(write, tenantId, body.name, null);
  const id = uuid();
  await insertResponsePolicy(write.trx, {
    ...body,
    id,
    tenant_id: tenantId,
    ai_system_id: systemId,
    created_at: write.now,
    updated_at: write.now,
  });
  const row = await findResponsePolicy(write.trx, tenantId, id);
  if (row === undefined) throw new Error("a response policy is not there after it was written");
  sealPolicy(write, row, "arm");
  return readPolicy(row, systemId);
}

export async function changeResponsePolicy(
  write: Write,
  tenantId: string,
  id: string,
  body: ResponsePolicyUpdate,
): Promise<ResponsePolicy> {
  const before = await findResponsePolicy(write.trx, tenantId, id);
  if (before === undefined) throw notFound("response policy");
  if (body.name !== undefined) await refuseTakenName(write, tenantId, body.name, id);
  await updateResponsePolicy(write.trx, id, { ...body, updated_at: write.now });
  const row = await findResponsePolicy(write.trx, tenantId, id);
  if (row === undefined) throw new Error("a response policy is not there after it was written");
  write.stay(before, row, readPolicy(before, null));
  sealPolicy(write, row, "change", readPolicy(before, null));
  return readPolicy(row, null);
}

/** Restrictions it has imposed remain until they expire or are restored. */
export async function disarmResponsePolicy(write: Write, tenantId: string, id: string): Promise<void> {
  const row = await findResponsePolicy(write.trx, tenantId, id);
  if (row === undefined) throw notFound("response policy");
  await removeResponsePolicy(write.trx, id);
  sealPolicy(write, row, "disarm");
}

type Trigger = Pick<ResponsePolicyRow, "finding_kinds" | "min_severity">;

const isTriggered = (
  { finding_kinds: kinds, min_severity: least }: Trigger,
  finding: { readonly kind: string; readonly severity: string },
): boolean => kinds.includes(finding.kind) && SEVERITIES.indexOf(finding.severity as never) >= SEVERITIES.indexOf(least as never);

/** What a policy would do to a system now, without doing it. */
export async function previewResponse(
  { db, clock }: Directory,
  tenantId: string,
  systemId: string,
  body: ResponsePolicyCreate,
): Promise<ResponsePreview> {
  await foundSystem(db, tenantId, systemId);
  const { items } = await findingPage(db, tenantId, { systemId, status: "open" }, { limit: MAX_SHOWN, offset: 0 });
  const now = clock.now();
  const [traffic] = await trafficOf(db, tenantId, [systemId], new Date(now - DAY_MS));
  return {
    action: body.action,
    would_fire_for: items
      .filter((finding) => isTriggered(body, finding))
      .map(({ id, kind, severity, title }) => ({ finding_id: id, kind, severity, title })),
    keys: await liveKeysOf(db, tenantId, systemId, new Date(now)),
    groups_below: (await descendantsOf(db, tenantId, systemId)).length,
    calls_last_day: traffic?.calls ?? 0,
    effect: EFFECTS[body.action],
  };
}

interface Found {
  readonly id: string;
  readonly kind: string;
  readonly severity: string;
  readonly title: string;
}

/**
 * Applies the system's response policies to a new or worsened finding. Responses that are refused or dry runs are recorded
 * too. Each policy responds once to a finding, and once more if it was armed since.
 */
export async function respondTo(write: Write, tenantId: string, systemId: string, finding: Found): Promise<void> {
  const given = await responsesTo(write.trx, tenantId, finding.id);
  const hasAnswered = ({ id, mode }: ResponsePolicyRow) =>
    given.some((one) => one.policy_id === id && (one.status === "dry_run") === (mode === "dry_run"));
  for (const policy of await livePolicies(write.trx, tenantId, systemId)) {
    if (!isTriggered(policy, finding) || hasAnswered(policy)) continue;
    // Serializes the check of the hourly limit on narrowed systems, so that concurrent responses are counted.
    if (policy.mode === "armed") await holdRecord(write, `response policy ${policy.id}`);
    const refusedBy = policy.mode === "armed" ? await refusalOf(write, tenantId, systemId, policy, finding) : null;
    const status = policy.mode === "armed" ? (refusedBy === null ? "active" : "refused") : "dry_run";
    const id = uuid();
    await insertResponse(write.trx, {
      ...{ id, tenant_id: tenantId, ai_system_id: systemId, policy_id: policy.id, policy_name: policy.name },
      ...{ finding_id: finding.id, action: policy.action, status, reason: refusedBy ?? finding.title },
      fired_at: write.now,
      expires_at: status === "active" ? new Date(write.now.getTime() + policy.ttl_seconds * 1000) : null,
    });
    sealResponse(write, { tenant_id: tenantId, id, ai_system_id: systemId }, "fire", {
      action: policy.action,
      status,
      finding_id: finding.id,
      reason: refusedBy,
    });
    if (status === "active") write.notify(tenantId, "policy");
  }
}

/** Why an armed policy must not act, leaving the decision to people; null if it may. */
async function refusalOf(
  write: Write,
  tenantId: string,
  systemId: string,
  policy: ResponsePolicyRow,
  finding: Found,
): Promise<string | null> {
  // A restricted system may be silent because of the restriction.
  if (finding.kind === "liveness" && (await activeResponses(write.trx, tenantId, systemId)).length > 0)
    return "The finding is what an earlier response came to.";
  const others = await otherSystemsSince(write.trx, policy.id, systemId, new Date(write.now.getTime() - HOUR_MS));
  return others >= policy.max_systems_per_hour
    ? `It has narrowed ${others} other systems within the hour, and may ${policy.max_systems_per_hour}: somebody has to decide.`
    : null;
}

function sealResponse(
  write: Write,
  row: Pick<ResponseRow, "tenant_id" | "id" | "ai_system_id">,
  action: string,
  details: Readonly<Record<string, unknown>>,
): void {
  sealRecord(write, {
    tenantId: row.tenant_id,
    system: systemAlone(row.ai_system_id),
    action,
    resource: "responses",
    resource_id: row.id,
    context: { record_type: "ai.gw.response", ...details },
  });
}

export async function listResponses({ db }: Directory, tenantId: string, systemId: string, page: Page): Promise<Paged<FiredResponse>> {
  await foundSystem(db, tenantId, systemId);
  const { items, total } = await responsePage(db, tenantId, systemId, page);
  return { items: items.map(readResponse), total };
}

/** Lifts every restriction that responses imposed on the system. Its envelope and lifecycle still apply. */
export async function restoreSystem(write: Write, tenantId: string, systemId: string, reason: string): Promise<FiredResponse[]> {
  await lockedSystem(write, tenantId, systemId);
  const active = await activeResponses(write.trx, tenantId, systemId);
  if (active.length === 0)
    throw new Refused(refuse("illegal_transition", "Nothing of this system is narrowed by a response.", { extra: { allowed: [] } }));
  const ended = { status: "restored", ended_at: write.now, ended_by: write.actor.username };
  for (const row of active) {
    await endResponse(write.trx, row.id, ended);
    sealResponse(write, row, "restore", { action: row.action, reason });
  }
  write.notify(tenantId, "policy");
  return active.map((row) => readResponse({ ...row, ...ended }));
}

/** Ends restrictions whose time is over. Returns how many. */
export async function expireResponses(write: Write): Promise<number> {
  const over = await overResponses(write.trx, write.now);
  for (const row of over) {
    await endResponse(write.trx, row.id, { status: "expired", ended_at: write.now, ended_by: null });
    sealResponse(write, row, "expire", { action: row.action });
    write.notify(row.tenant_id, "policy");
  }
  return over.length;
}
