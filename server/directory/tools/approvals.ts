import type { Approval } from "@gatehouse/contracts/approvals";
import { refuse, Refused } from "../../kernel/errors.ts";
import { exactValue } from "../../kernel/text/exact-numbers.ts";
import { isUuid, uuid } from "../../kernel/ids.ts";
import { isSameSecret } from "../../kernel/secrets.ts";
import { heldAnswerContext } from "../../kernel/seal-contexts.ts";
import {
  approvalById,
  approvalPage,
  openApproval,
  resolvableApprovalIds,
  resolveApproval,
  type ApprovalFilters,
  type ApprovalRow,
} from "../../store/approvals/approvals.ts";
import { expireApprovals as expireRows } from "../../store/approvals/approval-upkeep.ts";
import { consumeApproval, markApprovalShown, type ApprovalRedemption } from "../../store/approvals/approval-use.ts";
import { approvedInSession, transferApproval } from "../../store/approvals/carried-approvals.ts";
import { isRequestedByAccount, type ResolverAccount } from "../../store/approvals/approval-conflicts.ts";
import type { Database } from "../../store/database.ts";
import { dropHeldAnswers, keepHeldAnswer, takeHeldAnswer } from "../../store/approvals/held-answers.ts";
import { notifyApprovers, notifyRequester, withdrawRequests } from "../../store/approvals/approval-notifications.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { notFound } from "../writes/records.ts";
import type { Directory } from "../writes/write.ts";

type Parts = Pick<Directory, "db" | "secrets" | "clock">;

/** Whoever views approvals: the requesting caller, by user or key ID, and their groups. Null stands for an administrator. */
export interface Viewer {
  readonly requesterId: string;
  readonly groupIds: readonly string[];
}

/** One tool of a tool server, or the tool calls in a model's answer. */
type CapabilityType = "tool" | "tool_calls";

/** The request for approval of a blocked call. */
export interface ApprovalDemand {
  readonly tenantId: string;
  readonly serverConfigId: string | null;
  readonly serverId: string;
  readonly serverName: string;
  readonly capabilityType: CapabilityType;
  readonly capabilityName: string;
  readonly requesterType: "user" | "api_key";
  readonly requesterId: string;
  readonly requesterDisplay: string;
  readonly requesterGroupId: string;
  readonly approverGroupIds: readonly string[];
  /** JSON, as sent. */
  readonly callArguments: string;
  readonly argumentsDigest: string;
  readonly definitionDigest: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly timeoutSeconds: number;
}

/** The maximum length of arguments, in characters, that a person can be asked to review; lists of pending approvals include them. */
export const MAX_TO_APPROVE_LENGTH = 256 * 1024;

const TOKEN = /^gw_apr_([0-9a-f]{32})_([0-9a-f]{64})$/;

function tokenOf(parts: Parts, row: Pick<ApprovalRow, "id" | "tenant_id" | "token_nonce">): string {
  return `gw_apr_${row.id.replaceAll("-", "")}_${parts.secrets.hmac("approval-token", `${row.tenant_id}\n${row.id}\n${row.token_nonce}`)}`;
}

/** Expiry applies even before the sweep has recorded it. */
function statusOf(row: ApprovalRow, now: number): Approval["status"] {
  return row.expires_at.getTime() <= now && (row.status === "pending" || (row.status === "approved" && row.consumed_at === null))
    ? "expired"
    : (row.status as Approval["status"]);
}

/** An approval as callers and people read it. */
export function readApproval(row: ApprovalRow, now: number): Approval {
  return {
    id: row.id,
    server_config_id: row.server_config_id,
    server_name: row.server_name,
    capability_type: row.capability_type,
    capability_name: row.capability_name,
    requester_type: row.requester_type,
    requester_display: row.requester_display,
    requester_group_id: row.requester_group_id,
    call_arguments: exactValue(row.call_arguments),
    call_arguments_text: row.call_arguments,
    request_metadata: row.request_metadata,
    status: statusOf(row, now),
    timeout_seconds: row.timeout_seconds,
    expires_at: row.expires_at.toISOString(),
    resolved_by: row.resolved_by,
    resolved_at: row.resolved_at?.toISOString() ?? null,
    resolution_note: row.resolution_note,
    created_at: row.created_at.toISOString(),
  };
}

/** Whether the viewer may approve or reject it. Nobody may resolve their own request. */
export function mayResolve(
  row: Pick<ApprovalRow, "requester_id" | "approver_group_ids" | "requester_group_id">,
  viewer: Viewer | null,
): boolean {
  if (viewer === null) return true;
  if (row.requester_id === viewer.requesterId) return false;
  const groups = row.approver_group_ids.length > 0 ? row.approver_group_ids : [row.requester_group_id];
  return groups.some((id) => viewer.groupIds.includes(id));
}

async function visible(parts: Parts, tenantId: string, id: string, viewer: Viewer | null): Promise<ApprovalRow> {
  const row = isUuid(id) ? await approvalById(parts.db, tenantId, id) : undefined;
  if (row === undefined || (viewer !== null && row.requester_id !== viewer.requesterId && !mayResolve(row, viewer)))
    throw notFound("approval");
  return row;
}

/** In one transaction, so that notifications are written exactly when the change is, and a failed change can be retried. */
function together<T>(db: Database, work: (db: Database) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db) : db.transaction().execute(work);
}

/**
 * Creates a request and notifies those who may resolve it, or returns the pending one for the identical call. `whenNew`
 * writes what accompanies a new one.
 */
export async function requestApproval(
  parts: Parts,
  demand: ApprovalDemand,
  whenNew?: (db: Database, id: string) => Promise<void>,
): Promise<Approval> {
  const now = parts.clock.now();
  const id = uuid();
  const values = {
    id,
    tenant_id: demand.tenantId,
    server_config_id: demand.serverConfigId,
    server_id: demand.serverId,
    server_name: demand.serverName,
    capability_type: demand.capabilityType,
    capability_name: demand.capabilityName,
    requester_type: demand.requesterType,
    requester_id: demand.requesterId,
    requester_display: demand.requesterDisplay,
    requester_group_id: demand.requesterGroupId,
    approver_group_ids: [...demand.approverGroupIds],
    call_arguments: demand.callArguments,
    arguments_digest: demand.argumentsDigest,
    definition_digest: demand.definitionDigest,
    request_metadata: JSON.stringify(demand.metadata),
    timeout_seconds: demand.timeoutSeconds,
    expires_at: new Date(now + demand.timeoutSeconds * 1000),
    token_nonce: null,
    resolved_by: null,
    resolver_id: null,
    resolution_note: null,
    consumed_by_call: null,
    created_at: new Date(now),
  };
  const row = await together(parts.db, async (db) => {
    const opened = await openApproval(db, values);
    if (opened.id === id) {
      await whenNew?.(db, id);
      await notifyApprovers(db, opened);
    }
    return opened;
  });
  return readApproval(row, now);
}

/**
 * Redeems a token for one call and returns the approval's ID; null if it is not valid. Works once per token, and only for
 * the same caller, tool, tool definition and arguments.
 */
export async function redeemApproval(
  parts: Parts,
  token: string,
  redemption: Omit<ApprovalRedemption, "id" | "now">,
): Promise<string | null> {
  const row = await rowOfToken(parts, token, redemption.tenantId);
  if (row === null || row.capability_type !== "tool") return null;
  return (await consumeApproval(parts.db, { ...redemption, id: row.id, now: new Date(parts.clock.now()) })) ? row.id : null;
}

/** Redeems a token for the answer held under it. Works once, and only for the same caller and request; null otherwise. */
export async function redeemHeldAnswer(
  parts: Parts,
  token: string,
  redemption: Omit<ApprovalRedemption, "id" | "now" | "capabilityName" | "definitionDigest">,
): Promise<{ readonly id: string; readonly answer: string } | null> {
  const row = await rowOfToken(parts, token, redemption.tenantId);
  if (row === null || row.capability_type !== "tool_calls") return null;
  const { id, capability_name: capabilityName } = row;
  const now = new Date(parts.clock.now());
  return together(parts.db, async (db) => {
    if (!(await consumeApproval(db, { ...redemption, id, capabilityName, definitionDigest: "", now }))) return null;
    const sealed = await takeHeldAnswer(db, redemption.tenantId, id);
    const answer = parts.secrets.openOrNull(sealed, heldAnswerContext(id));
    return answer === null ? null : { id, answer };
  });
}

/** Requests approval of an answer and stores the answer with it; if one is already pending, returns that with its own stored answer. */
export function holdAnswer(
  parts: Parts,
  demand: Omit<ApprovalDemand, "capabilityType" | "definitionDigest">,
  answer: string,
): Promise<Approval> {
  return requestApproval(parts, { ...demand, capabilityType: "tool_calls", definitionDigest: "" }, (db, id) =>
    keepHeldAnswer(db, demand.tenantId, id, parts.secrets.seal(answer, heldAnswerContext(id))),
  );
}

/** The approval that a token was issued for; null if there is none. */
async function rowOfToken(parts: Parts, token: string, tenantId: string): Promise<ApprovalRow | null> {
  const match = TOKEN.exec(token);
  if (match === null) return null;
  const hex = match[1] as string;
  const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  const row = await approvalById(parts.db, tenantId, id);
  return row?.token_nonce == null || !isSameSecret(token, tokenOf(parts, row)) ? null : row;
}

/** Redeems an approval that the gateway itself requested from the caller; like a token, once and only for that call. */
export function redeemRequestedApproval(parts: Parts, id: string, redemption: Omit<ApprovalRedemption, "id" | "now">): Promise<boolean> {
  return consumeApproval(parts.db, { ...redemption, id, now: new Date(parts.clock.now()) });
}

/** Redeems an approval that was granted after the caller was shown its link in this session; null if there is none. */
export async function redeemShownApproval(
  parts: Parts,
  session: string,
  redemption: Omit<ApprovalRedemption, "id" | "now">,
): Promise<string | null> {
  const id = await approvedInSession(parts.db, { ...redemption, now: new Date(parts.clock.now()) }, session);
  return id !== null && (await redeemRequestedApproval(parts, id, redemption)) ? id : null;
}

/** Records that the caller of a session (by its digest) was shown the approval's link. */
export function noteApprovalShown(parts: Parts, tenantId: string, id: string, session: string): Promise<void> {
  return markApprovalShown(parts.db, tenantId, id, session);
}

/** Without an access check; null if it does not exist. */
export async function findApproval(parts: Parts, tenantId: string, id: string): Promise<Approval | null> {
  const row = await approvalById(parts.db, tenantId, id);
  return row === undefined ? null : readApproval(row, parts.clock.now());
}

/** Passes the approval of a redeemed call to its next request; works once for each request that held it. */
export function continueApproval(parts: Parts, hand: Parameters<typeof transferApproval>[1]): Promise<boolean> {
  return transferApproval(parts.db, hand);
}

export async function listApprovals(
  parts: Parts,
  tenantId: string,
  status: ApprovalFilters["status"],
  page: Page,
): Promise<Paged<Approval>> {
  const now = parts.clock.now();
  const { items, total } = await approvalPage(parts.db, tenantId, { status, now: new Date(now) }, page);
  return { total, items: items.map((row) => readApproval(row, now)) };
}

/** Throws a `not_found` refusal, like the functions below. */
export async function getApproval(parts: Parts, tenantId: string, id: string): Promise<Approval> {
  return readApproval(await visible(parts, tenantId, id, null), parts.clock.now());
}

/** An approval as seen by an end user who requested it or may resolve it. */
export interface ViewedApproval extends Approval {
  readonly may_resolve: boolean;
  readonly may_approve: boolean;
}

async function viewed(parts: Parts, tenantId: string, rows: readonly ApprovalRow[], viewer: Viewer): Promise<ViewedApproval[]> {
  const now = parts.clock.now();
  const read = rows.map((row) => ({ ...readApproval(row, now), may_resolve: mayResolve(row, viewer) }));
  const open = read.filter((one) => one.may_resolve && one.status === "pending").map(({ id }) => id);
  const own = await ownAmong(parts, tenantId, open, viewer);
  return read.map((one) => ({ ...one, may_approve: one.may_resolve && !own.has(one.id) }));
}

export async function listViewedApprovals(
  parts: Parts,
  tenantId: string,
  viewer: Viewer,
  status: ApprovalFilters["status"],
  page: Page,
): Promise<Paged<ViewedApproval>> {
  const filters = { status, now: new Date(parts.clock.now()), visibleTo: viewer };
  const { items, total } = await approvalPage(parts.db, tenantId, filters, page);
  return { total, items: await viewed(parts, tenantId, items, viewer) };
}

export async function getViewedApproval(parts: Parts, tenantId: string, id: string, viewer: Viewer): Promise<ViewedApproval> {
  const [approval] = await viewed(parts, tenantId, [await visible(parts, tenantId, id, viewer)], viewer);
  if (approval === undefined) throw notFound("approval");
  return approval;
}

/** How many approvals the viewer may grant; excludes those that the viewer may only reject because somebody else must approve them. */
export async function countApprovable(parts: Parts, tenantId: string, viewer: Viewer): Promise<number> {
  const open = await resolvableApprovalIds(parts.db, tenantId, viewer, new Date(parts.clock.now()));
  return open.length - (await ownAmong(parts, tenantId, open, viewer)).size;
}

/** Those that the viewer requested in another way than as the recorded requester. */
async function ownAmong(parts: Parts, tenantId: string, ids: readonly string[], viewer: Viewer): Promise<ReadonlySet<string>> {
  return ids.length === 0 ? new Set() : isRequestedByAccount(parts.db, tenantId, ids, { plane: "portal", id: viewer.requesterId });
}

/** `approval_token` is present only while the approval is granted and unused, for the requester and whoever granted it. */
export async function pollApproval(
  parts: Parts,
  tenantId: string,
  id: string,
  viewer: Viewer,
): Promise<{ id: string; status: string; approval_token?: string; expires_at: string }> {
  const row = await visible(parts, tenantId, id, viewer);
  const status = statusOf(row, parts.clock.now());
  const usable = status === "approved" && row.consumed_at === null && [row.requester_id, row.resolver_id].includes(viewer.requesterId);
  return { id, status, ...(usable ? { approval_token: tokenOf(parts, row) } : {}), expires_at: row.expires_at.toISOString() };
}

/** Expires approvals that were not resolved or used in time, and notifies their requesters. */
export function expireApprovalRows(db: Database): Promise<void> {
  return together(db, async (trx) => {
    for (const row of await expireRows(trx)) await notifyRequester(trx, row);
    await dropHeldAnswers(trx);
  });
}

export interface Resolver {
  /** Shown as resolved_by. */
  readonly name: string;
  /** Null for an administrator. */
  readonly viewer: Viewer | null;
  /** The resolver's account; null if there is none. */
  readonly account: ResolverAccount | null;
}

async function resolve(
  parts: Parts,
  tenantId: string,
  id: string,
  resolver: Resolver,
  status: "approved" | "rejected",
  note: string | null,
): Promise<ApprovalRow> {
  const before = await visible(parts, tenantId, id, resolver.viewer);
  if (!mayResolve(before, resolver.viewer)) throw new Refused(refuse("forbidden", "You may not resolve this approval."));
  if (
    status === "approved" &&
    resolver.account !== null &&
    (await isRequestedByAccount(parts.db, tenantId, [id], resolver.account)).has(id)
  )
    throw new Refused(refuse("forbidden", "The call came with your own account or a key you made: somebody else has to approve it."));
  const now = parts.clock.now();
  return together(parts.db, async (db) => {
    const row = await resolveApproval(db, tenantId, id, {
      status,
      by: resolver.name,
      endUserId: resolver.viewer?.requesterId ?? null,
      note,
      nonce: status === "approved" ? uuid() : null,
      now: new Date(now),
      expiresAt: status === "approved" ? new Date(now + before.timeout_seconds * 1000) : null,
    });
    if (row === undefined) throw new Refused(refuse("approval_not_pending"));
    await withdrawRequests(db, row);
    await notifyRequester(db, row);
    return row;
  });
}

/** The token is valid from now on for the same duration as the request was. */
export async function approveApproval(parts: Parts, tenantId: string, id: string, resolver: Resolver, note: string | null) {
  const row = await resolve(parts, tenantId, id, resolver, "approved", note);
  return {
    id,
    status: row.status as Approval["status"],
    resolved_by: row.resolved_by,
    resolved_at: row.resolved_at?.toISOString() ?? null,
    approval_token: tokenOf(parts, row),
    message: "Approved: send the call again with X-Approval-Token.",
  };
}

export async function rejectApproval(parts: Parts, tenantId: string, id: string, resolver: Resolver, note: string | null) {
  const row = await resolve(parts, tenantId, id, resolver, "rejected", note);
  return {
    id,
    status: row.status as Approval["status"],
    resolved_by: row.resolved_by,
    resolved_at: row.resolved_at?.toISOString() ?? null,
    message: "Rejected.",
  };
}
