import { randomBytes } from "node:crypto";
import { endUserStore } from "../../store/people/end-users.ts";
import { photoByAddress, putPhoto, type PhotoRow } from "../../store/people/end-user-photos.ts";
import { invalidFields } from "../../kernel/errors.ts";
import { invalidField, notFound } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";
import { strippedPicture } from "../pictures/picture.ts";
import { END_USERS, notifyUser } from "./end-users.ts";

/** Profile photo maximum (interface 8.7). */
export const PHOTO_BYTES = 5 * 1024 * 1024;

/** The path under which both planes serve photos. */
export const PHOTOS = "/v1/portal/photos/";

/** Stores a photo, stripped of metadata, and returns its address. Refuses one that is too large or damaged, naming `field`. */
export async function setPhoto(write: Write, tenantId: string, userId: string, content: Uint8Array, field: string): Promise<string> {
  if (content.byteLength > PHOTO_BYTES) throw invalidFields("body_too_large", [{ field, message: "is larger than 5 MB" }]);
  const picture = strippedPicture(content);
  if ("fault" in picture) throw invalidField(field, picture.fault);
  const before = await endUserStore.find(write.trx, tenantId, userId, "lock");
  if (before === undefined) throw notFound("end user");
  const photoId = randomBytes(24).toString("base64url");
  await putPhoto(write.trx, {
    end_user_id: userId,
    tenant_id: tenantId,
    photo_id: photoId,
    mime_type: picture.type,
    content: picture.content,
  });
  const avatarUrl = PHOTOS + photoId;
  await endUserStore.update(write.trx, userId, { avatar_url: avatarUrl, updated_at: write.now });
  write.log({
    tenant_id: tenantId,
    action: "set_photo",
    resource: END_USERS,
    resource_id: userId,
    after: { mime_type: picture.type, size_bytes: picture.content.byteLength },
  });
  notifyUser(write, before);
  return avatarUrl;
}

export async function photo(directory: Pick<Directory, "db">, photoId: string): Promise<PhotoRow | null> {
  return (await photoByAddress(directory.db, photoId)) ?? null;
}

/** The photo that an avatar's address refers to; null if it is not one of the gateway's. */
export async function photoAt(directory: Pick<Directory, "db">, address: string | null): Promise<PhotoRow | null> {
  return address?.startsWith(PHOTOS) === true ? photo(directory, address.slice(PHOTOS.length)) : null;
}
