import { sql, type ExpressionBuilder, type Insertable, type Selectable } from "kysely";
import type { Database } from "./database.ts";
import type { Page, Paged } from "./paging.ts";
import type { Schema } from "./schema.ts";
import type { ApprovalTable } from "./tables/tools.ts";

export type ApprovalRow = Selectable<ApprovalTable>;

/** Makes the request, or gives the pending one that is for the same call of the same caller. */
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
  // The sweep has not come by yet, or the tool takes something else by now, so that to approve it would let nothing
  // through, or others are to decide by now.
  if (
    there !== undefined &&
    (there.expires_at.getTime() <= new Date(values.created_at as Date).getTime() ||
      there.definition_digest !== values.definition_digest ||
      !sameGroups(there.approver_group_ids, values.approver_group_ids ?? []))
  ) {
    await db.updateTable("approvals").set({ status: "expired" }).where("id", "=", there.id).where("status", "=", "pending").execute();
    return openApproval(db, values);
  }
  // What stood in the way was resolved in between: the second try meets nothing.
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

export interface ApprovalFilters {
  /** `all` or nothing: every one. */
  readonly status?: string | undefined;
  /** A request whose time has run out is expired before the sweep has written so. */
  readonly now: Date;
  /** Only those this person or key asked for, or that these groups' members may resolve. */
  readonly visibleTo?: { readonly requesterId: string; readonly groupIds: readonly string[] } | undefined;
}

/** Newest first. */
export async function approvalPage(db: Database, tenantId: string, filters: ApprovalFilters, page: Page): Promise<Paged<ApprovalRow>> {
  let query = db.selectFrom("approvals").where("tenant_id", "=", tenantId);
  const { status, now } = filters;
  if (status !== undefined && status !== "all") {
    const ran = sql<boolean>`(expires_at <= ${now} AND (status = 'pending' OR (status = 'approved' AND consumed_at IS NULL)))`;
    if (status === "pending") query = query.where("status", "=", "pending").where("expires_at", ">", now);
    else
      query = query.where((eb) =>
        status === "expired" ? eb.or([eb("status", "=", "expired"), ran]) : eb.and([eb("status", "=", status), eb.not(ran)]),
      );
  }
  const { visibleTo } = filters;
  if (visibleTo !== undefined) {
    const groups = visibleTo.groupIds as string[];
    // Each by an index: a tenant's approvals are many, and a person sees few of them.
    query = query.where((eb) =>
      eb.or([
        eb("requester_id", "=", visibleTo.requesterId),
        sql<boolean>`(cardinality(approver_group_ids) = 0 AND requester_group_id = ANY(${groups}::uuid[]))`,
        sql<boolean>`approver_group_ids && ${groups}::uuid[]`,
      ]),
    );
  }
  // Apart, because the planner takes what a person may see for much, and would look through all from the newest on for a page of it.
  const found = visibleTo === undefined ? query.selectAll() : query.selectAll().offset(0);
  const items = await db
    .selectFrom(found.as("found"))
    .selectAll()
    .orderBy("created_at", "desc")
    .orderBy("id")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const { total } = await query.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  return { items, total };
}

/** Resolves a request that is pending and has not expired; undefined when it is not (any more). */
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

export interface Redemption {
  readonly id: string;
  readonly tenantId: string;
  readonly requesterId: string;
  readonly requesterGroupId: string;
  readonly serverId: string;
  readonly capabilityName: string;
  readonly argumentsDigest: string;
  readonly definitionDigest: string;
  readonly callId: string;
  readonly now: Date;
}

/** Which approvals let this very call through: given, unused, not over, and for nobody and nothing else. */
const goodFor = (call: Omit<Redemption, "id" | "callId">) => (eb: ExpressionBuilder<Schema, "approvals">) =>
  eb.and([
    eb("tenant_id", "=", call.tenantId),
    eb("requester_id", "=", call.requesterId),
    eb("requester_group_id", "=", call.requesterGroupId),
    eb("server_id", "=", call.serverId),
    eb("capability_name", "=", call.capabilityName),
    eb("arguments_digest", "=", call.argumentsDigest),
    eb("definition_digest", "=", call.definitionDigest),
    eb("status", "=", "approved"),
    eb("consumed_at", "is", null),
    eb("expires_at", ">", call.now),
  ]);

/** True for exactly one of all calls that ever present the same approval, and only for the call it was given for. */
export async function consumeApproval(db: Database, redemption: Redemption): Promise<boolean> {
  const row = await db
    .updateTable("approvals")
    .set({ consumed_at: redemption.now, consumed_by_call: redemption.callId })
    .where("id", "=", redemption.id)
    .where(goodFor(redemption))
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** Notes that the caller was shown the way to the approval in this session. */
export async function noteShown(db: Database, tenantId: string, id: string, session: string): Promise<void> {
  await db
    .updateTable("approvals")
    .set({ shown_in: sql<string[]>`array_append(shown_in, ${session})` })
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .where(sql<boolean>`NOT (${session} = ANY(shown_in))`)
    .execute();
}

/** The approval of this very call that was shown in this session, was given and is not used yet; the newest of several. */
export async function approvedInSession(db: Database, call: Omit<Redemption, "id" | "callId">, session: string): Promise<string | null> {
  const row = await db
    .selectFrom("approvals")
    .select("id")
    .where(goodFor(call))
    .where(sql<boolean>`${session} = ANY(shown_in)`)
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? null;
}

/** Hands a redeemed approval from the call that has it to the next; true for one of all calls that ever try with the same `from`. */
export async function handOnApproval(
  db: Database,
  hand: { readonly id: string; readonly tenantId: string; readonly from: string; readonly to: string; readonly definitionDigest: string },
): Promise<boolean> {
  const row = await db
    .updateTable("approvals")
    .set({ consumed_by_call: hand.to })
    .where("id", "=", hand.id)
    .where("tenant_id", "=", hand.tenantId)
    .where("status", "=", "approved")
    .where("consumed_at", "is not", null)
    .where("consumed_by_call", "=", hand.from)
    .where("definition_digest", "=", hand.definitionDigest)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** Every request whose time has run out unresolved, or approved and never used. Answers them. */
export async function expireApprovals(db: Database): Promise<ApprovalRow[]> {
  const { rows } =
    await sql<ApprovalRow>`UPDATE approvals SET status = 'expired' WHERE (status = 'pending' OR (status = 'approved' AND consumed_at IS NULL)) AND expires_at <= now() RETURNING *`.execute(
      db,
    );
  return rows;
}

/**
 * Holds approvals that are over to how long their tenant keeps what calls said, and calls at all: they lose the
 * arguments and whence they came, and then go, with what people were told of them. Answers how many were changed.
 */
export async function pruneApprovals(
  db: Database,
  tenantId: string,
  { bodies, calls }: { readonly bodies: Date; readonly calls: Date },
): Promise<number> {
  const isOver = sql<boolean>`(status IN ('rejected', 'expired') OR consumed_at IS NOT NULL)`;
  const { rows } = await sql<{ gone: number }>`
    WITH gone AS (DELETE FROM approvals WHERE tenant_id = ${tenantId} AND created_at < ${calls} AND ${isOver} RETURNING id::text),
      untold AS (DELETE FROM notifications n USING gone WHERE n.tenant_id = ${tenantId} AND n.metadata->>'approval_id' = gone.id)
    SELECT count(*) AS gone FROM gone`.execute(db);
  const emptied = await db
    .updateTable("approvals")
    .set({ call_arguments: "{}", request_metadata: "{}" })
    .where("tenant_id", "=", tenantId)
    .where("created_at", "<", bodies)
    .where(isOver)
    .where(sql<boolean>`(call_arguments <> '{}' OR request_metadata <> '{}')`)
    .executeTakeFirst();
  return (rows[0]?.gone ?? 0) + Number(emptied.numUpdatedRows);
}
