import { type Insertable, type Selectable, sql } from "kysely";
import type { Database } from "../database.ts";
import { type Page, type Paged, totalOf } from "../records/paging.ts";
import type { ApprovalTable } from "../tables/approvals.ts";

export type ApprovalRow = Selectable<ApprovalTable>;

/** Creates the request, or returns the pending one for the same call by the same caller. */
export async function openApproval(db: Database, values: Insertable<ApprovalTable>): Promise<ApprovalRow> {
  const made = await db
    .insertInto("approvals")
    .values(values)
    .onConflict((conflict) =>
      conflict
        .columns(["tenant_id", "requester_id", "requester_group_id", "server_id", "capability_name", "arguments_digest"])
        .where("status", "=", "pending")
        .doNothing(),
    )
    .returningAll()
    .executeTakeFirst();
  if (made !== undefined) return made;
  const there = await samePending(db, values);
  // The pending request is of no use any more: it has expired but was not swept yet, the tool's definition has changed, or other groups
  // decide now.
  if (
    there !== undefined &&
    (there.expires_at.getTime() <= new Date(values.created_at as Date).getTime() ||
      there.definition_digest !== values.definition_digest ||
      !sameGroups(there.approver_group_ids, values.approver_group_ids ?? []))
  ) {
    await db.updateTable("approvals").set({ status: "expired" }).where("id", "=", there.id).where("status", "=", "pending").execute();
    return openApproval(db, values);
  }
  // The conflicting request was resolved in between, so the second try finds no conflict.
  return there ?? openApproval(db, values);
}

function sameGroups(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((id) => others.includes(id));
}

function samePending(db: Database, values: Insertable<ApprovalTable>): Promise<ApprovalRow | undefined> {
  return db
    .selectFrom("approvals")
    .selectAll()
    .where("tenant_id", "=", values.tenant_id)
    .where("requester_id", "=", values.requester_id)
    .where("requester_group_id", "=", values.requester_group_id)
    .where("server_id", "=", values.server_id)
    .where("capability_name", "=", values.capability_name)
    .where("arguments_digest", "=", values.arguments_digest)
    .where("status", "=", "pending")
    .executeTakeFirst();
}

export async function approvalById(db: Database, tenantId: string, id: string): Promise<ApprovalRow | undefined> {
  return db.selectFrom("approvals").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst();
}

interface ApprovalViewer {
  readonly requesterId: string;
  readonly groupIds: readonly string[];
}

/** Two conditions, so that each can use an index: a tenant has many approvals and a person sees few. */
const inGroups = ({ groupIds }: ApprovalViewer) => [
  sql<boolean>`(cardinality(approver_group_ids) = 0 AND requester_group_id = ANY(${groupIds as string[]}::uuid[]))`,
  sql<boolean>`approver_group_ids && ${groupIds as string[]}::uuid[]`,
];

export interface ApprovalFilters {
  /** `all` or undefined: no filter. */
  readonly status?: string | undefined;
  /** Requests that expired before `now` count as expired even if the sweep has not marked them yet. */
  readonly now: Date;
  /** Only approvals that this person or key requested, or that members of these groups may resolve. */
  readonly visibleTo?: ApprovalViewer | undefined;
}

const pendingOf = (db: Database, tenantId: string, now: Date) =>
  db.selectFrom("approvals").where("tenant_id", "=", tenantId).where("status", "=", "pending").where("expires_at", ">", now);

/** Pending approvals that members of these groups may resolve and that somebody else requested. */
export async function resolvableApprovalIds(db: Database, tenantId: string, viewer: ApprovalViewer, now: Date): Promise<string[]> {
  const rows = await pendingOf(db, tenantId, now)
    .where("requester_id", "<>", viewer.requesterId)
    .where((eb) => eb.or(inGroups(viewer)))
    .select("id")
    .execute();
  return rows.map(({ id }) => id);
}

/** Newest first. */
export async function approvalPage(db: Database, tenantId: string, filters: ApprovalFilters, page: Page): Promise<Paged<ApprovalRow>> {
  let query = db.selectFrom("approvals").where("tenant_id", "=", tenantId);
  const { status, now } = filters;
  if (status !== undefined && status !== "all") {
    const ran = sql<boolean>`(expires_at <= ${now} AND (status = 'pending' OR (status = 'approved' AND consumed_at IS NULL)))`;
    if (status === "pending") query = pendingOf(db, tenantId, now);
    else
      query = query.where((eb) =>
        status === "expired" ? eb.or([eb("status", "=", "expired"), ran]) : eb.and([eb("status", "=", status), eb.not(ran)]),
      );
  }
  const { visibleTo } = filters;
  if (visibleTo !== undefined) query = query.where((eb) => eb.or([eb("requester_id", "=", visibleTo.requesterId), ...inGroups(visibleTo)]));
  // A subquery, because the planner overestimates how much a person may see and would scan all approvals from the newest for a page.
  const found = visibleTo === undefined ? query.selectAll() : query.selectAll().offset(0);
  const items = await db
    .selectFrom(found.as("found"))
    .selectAll()
    .orderBy("created_at", "desc")
    .orderBy("id")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { items, total: await totalOf(query) };
}

/** Resolves a pending, unexpired request; undefined if there is no such request. */
export async function resolveApproval(
  db: Database,
  tenantId: string,
  id: string,
  resolution: {
    readonly status: "approved" | "rejected";
    readonly by: string;
    readonly endUserId: string | null;
    readonly note: string | null;
    readonly nonce: string | null;
    readonly now: Date;
    readonly expiresAt: Date | null;
  },
): Promise<ApprovalRow | undefined> {
  return db
    .updateTable("approvals")
    .set({
      status: resolution.status,
      resolved_by: resolution.by,
      resolver_id: resolution.endUserId,
      resolved_at: resolution.now,
      resolution_note: resolution.note,
      token_nonce: resolution.nonce,
      ...(resolution.expiresAt === null ? {} : { expires_at: resolution.expiresAt }),
    })
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .where("status", "=", "pending")
    .where("expires_at", ">", resolution.now)
    .returningAll()
    .executeTakeFirst();
}
