import { sql } from "kysely";
import { ulid } from "../kernel/ids.ts";
import type { ApprovalRow } from "./approvals.ts";
import type { Database } from "./database.ts";
import { isInGroups } from "./group-membership.ts";

const APPROVAL_REQUESTED = "approval_requested";
const APPROVAL_RESOLVED = "approval_resolved";
const APPROVAL_EXPIRED = "approval_expired";

/** Notifies everyone who may resolve the request. */
export async function notifyApprovers(db: Database, approval: ApprovalRow): Promise<void> {
  const groups = approval.approver_group_ids.length > 0 ? approval.approver_group_ids : [approval.requester_group_id];
  const title = `Approval needed: ${approval.capability_name}`;
  const body = `${approval.requester_display} asks to call ${approval.capability_name} on ${approval.server_name}.`;
  await sql`
    INSERT INTO notifications (id, tenant_id, end_user_id, notification_type, title, body, metadata, expires_at)
    SELECT ${ulid()} || '-' || row_number() OVER (ORDER BY u.id), u.tenant_id, u.id, ${APPROVAL_REQUESTED}, ${title}, ${body}, ${JSON.stringify({ approval_id: approval.id })}::jsonb, ${approval.expires_at}
      FROM end_users u
     WHERE u.tenant_id = ${approval.tenant_id} AND u.is_active AND u.id::text <> ${approval.requester_id}
       AND ${isInGroups(sql`SELECT unnest(${groups}::uuid[])`)}`.execute(db);
}

/** Notifies the user who asked of what came of it; nobody where a key asked. */
export async function notifyRequester(db: Database, approval: ApprovalRow): Promise<void> {
  if (approval.requester_type !== "user") return;
  const call = `the call of ${approval.capability_name} on ${approval.server_name}`;
  const resolver = approval.resolved_by ?? "An administrator";
  const [type, outcome, body] =
    approval.status === "expired"
      ? [APPROVAL_EXPIRED, "Expired", approval.resolved_at === null ? `Nobody resolved ${call} in time.` : `${resolver} approved ${call}, which was not made in time.`]
      : [APPROVAL_RESOLVED, approval.status === "approved" ? "Approved" : "Rejected", `${resolver} ${approval.status} ${call}.`];
  const title = `${outcome}: ${approval.capability_name}`;
  await sql`
    INSERT INTO notifications (id, tenant_id, end_user_id, notification_type, title, body, metadata, expires_at)
    SELECT ${ulid()}, u.tenant_id, u.id, ${type}, ${title}, ${body}, ${JSON.stringify({ approval_id: approval.id, status: approval.status })}::jsonb, NULL
      FROM end_users u WHERE u.tenant_id = ${approval.tenant_id} AND u.id::text = ${approval.requester_id}`.execute(db);
}
