import type { Database, Trx } from "../database.ts";

export interface PhotoRow {
  readonly tenant_id: string;
  readonly mime_type: string;
  readonly content: Buffer;
}

/** Replaces the user's photo. */
export async function putPhoto(
  trx: Trx,
  photo: { end_user_id: string; tenant_id: string; photo_id: string; mime_type: string; content: Buffer },
): Promise<void> {
  await trx
    .insertInto("end_user_photos")
    .values(photo)
    .onConflict((conflict) =>
      conflict
        .column("end_user_id")
        .doUpdateSet({ photo_id: photo.photo_id, mime_type: photo.mime_type, content: photo.content, created_at: new Date() }),
    )
    .execute();
}

export async function removePhoto(trx: Trx, userId: string): Promise<void> {
  await trx.deleteFrom("end_user_photos").where("end_user_id", "=", userId).execute();
}

/** Looks up a photo by the unguessable part of its address. */
export async function photoByAddress(db: Database, photoId: string): Promise<PhotoRow | undefined> {
  return db.selectFrom("end_user_photos").select(["tenant_id", "mime_type", "content"]).where("photo_id", "=", photoId).executeTakeFirst();
}
