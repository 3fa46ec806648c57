import { type Insertable, type Selectable, sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import { type FileOwner, ownedBy } from "./files.ts";
import { hasId } from "../records/has-id.ts";
import type { ResumableUploadTable, UploadPiece } from "../tables/files.ts";

export type ResumableUploadRow = Selectable<ResumableUploadTable>;

/** Returns false if the caller has too many uploads, or too many bytes, in progress. */
export async function insertResumableUpload(
  db: Database,
  owner: FileOwner,
  upload: Pick<Insertable<ResumableUploadTable>, "id" | "display_name" | "size_bytes" | "expires_at">,
  most: { readonly uploads: number; readonly bytes: number },
): Promise<boolean> {
  const { tenantId, groupId, userId } = owner;
  const { rows } = await sql`
    INSERT INTO resumable_uploads (id, tenant_id, resource_group_id, end_user_id, display_name, size_bytes, expires_at)
    SELECT ${upload.id}, ${tenantId}, ${groupId}::uuid, ${userId}::uuid, ${upload.display_name}, ${upload.size_bytes}, ${upload.expires_at}::timestamptz
      FROM (SELECT count(*) AS uploads, coalesce(sum(size_bytes), 0) AS bytes FROM resumable_uploads WHERE ${ownedBy(owner)}) under_way
     WHERE under_way.uploads < ${most.uploads} AND under_way.bytes + ${upload.size_bytes}::bigint <= ${most.bytes}
    RETURNING 1`.execute(db);
  return rows.length > 0;
}

export async function findResumableUpload(db: Database, owner: FileOwner, id: string, now: Date): Promise<ResumableUploadRow | undefined> {
  return db
    .selectFrom("resumable_uploads")
    .selectAll()
    .where(hasId(id))
    .where(ownedBy(owner))
    .where("expires_at", ">", now)
    .executeTakeFirst();
}

/** Returns false if another piece arrived at this offset first. */
export async function addUploadPiece(db: Database, { id, received_bytes: at }: ResumableUploadRow, piece: UploadPiece): Promise<boolean> {
  const { rows } = await sql`
    UPDATE resumable_uploads SET pieces = pieces || ${JSON.stringify([piece])}::jsonb, received_bytes = received_bytes + ${piece.bytes}
     WHERE id = ${id} AND received_bytes = ${at} RETURNING 1`.execute(db);
  return rows.length > 0;
}

/** Returns false if the upload has ended or received more in the meantime. */
export async function endResumableUpload(db: Database | Trx, { id, received_bytes: at }: ResumableUploadRow): Promise<boolean> {
  const { rows } = await sql`DELETE FROM resumable_uploads WHERE id = ${id} AND received_bytes = ${at} RETURNING 1`.execute(db);
  return rows.length > 0;
}

export async function sweepResumableUploads(db: Database, now: Date): Promise<void> {
  await db.deleteFrom("resumable_uploads").where("expires_at", "<=", now).execute();
}
