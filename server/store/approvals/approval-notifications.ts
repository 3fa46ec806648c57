import { sql } from "kysely";
import { ulid } from "../../kernel/ids.ts";
import type { ApprovalRow } from "./approvals.ts";
import type { Database } from "../database.ts";
import { isInGroups } from "../groups/group-membership.ts";

const APPROVAL_REQUESTED = "approval_requested";
const APPROVAL_RESOLVED = "approval_resolved";
const APPROVAL_EXPIRED = "approval_expired";

const isApprover = ({ approver_group_ids: named, requester_group_id: own }: ApprovalRow) =>
  isInGroups(sql`SELECT unnest(${named.length > 0 ? named : [own]}::uuid[])`);

/** The data of a notification, for clients that show it in another language. */
const notificationOf = ({ id, requester_display, capability_name, server_name }: ApprovalRow) => ({
  approval_id: id,
  requester_display,
  capability_name,
  server_name,
});

/** Notifies everyone who may resolve the request. */
export async function notifyApprovers(db: Database, approval: ApprovalRow): Promise<void> {
  const title = `Approval needed: ${approval.capability_name}`;
  const body = `${approval.requester_display} asks to call ${approval.capability_name} on ${approval.server_name}.`;
  await sql`
    INSERT INTO notifications (id, tenant_id, end_user_id, notification_type, title, body, metadata, expires_at)
    SELECT ${ulid()} || '-' || row_number() OVER (ORDER BY u.id), u.tenant_id, u.id, ${APPROVAL_REQUESTED}, ${title}, ${body}, ${JSON.stringify(notificationOf(approval))}::jsonb, ${approval.expires_at}
      FROM end_users u
     WHERE u.tenant_id = ${approval.tenant_id} AND u.is_active AND u.id::text <> ${approval.requester_id}
       AND ${isApprover(approval)}`.execute(db);
}

/** Withdraws the notifications that ask approvers to act, once the request is resolved. */
export async function withdrawRequests(db: Database, approval: ApprovalRow): Promise<void> {
  await sql`
    UPDATE notifications n SET expires_at = now() FROM end_users u
     WHERE u.tenant_id = ${approval.tenant_id} AND ${isApprover(approval)}
       AND n.end_user_id = u.id AND n.notification_type = ${APPROVAL_REQUESTED} AND n.metadata->>'approval_id' = ${approval.id}`.execute(
    db,
  );
}

/** Notifies the requesting user of the outcome; nobody if a key made the request. */
export async function notifyRequester(db: Database, approval: ApprovalRow): Promise<void> {
  if (approval.requester_type !== "user") return;
  const call = `the call of ${approval.capability_name} on ${approval.server_name}`;
  const resolver = approval.resolved_by ?? "An administrator";
  const [type, outcome, body] =
    approval.status === "expired"
      ? [
          APPROVAL_EXPIRED,
          "Expired",
          approval.resolved_at === null ? `Nobody resolved ${call} in time.` : `${resolver} approved ${call}, which was not made in time.`,
        ]
      : [APPROVAL_RESOLVED, approval.status === "approved" ? "Approved" : "Rejected", `${resolver} ${approval.status} ${call}.`];
  const title = `${outcome}: ${approval.capability_name}`;
  await sql`
    INSERT INTO notifications (id, tenant_id, end_user_id, notification_type, title, body, metadata, expires_at)
    SELECT ${ulid()}, u.tenant_id, u.id, ${type}, ${title}, ${body}, ${JSON.stringify({ ...notificationOf(approval), status: approval.status, resolved: approval.resolved_at !== null, resolved_by: approval.resolved_by })}::jsonb, NULL
      FROM end_users u WHERE u.tenant_id = ${approval.tenant_id} AND u.id::text = ${approval.requester_id}`.execute(db);
}
