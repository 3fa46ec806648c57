import { randomBytes } from "node:crypto";
import { endUserStore } from "../../store/end-users.ts";
import { photoByAddress, putPhoto, type PhotoRow } from "../../store/end-user-photos.ts";
import { invalidField, notFound } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";
import { END_USERS, notifyUser } from "./end-users.ts";

/** Profile photo maximum (interface 8.7). */
export const PHOTO_BYTES = 5 * 1024 * 1024;

/** Where photos are served on the runtime plane. */
const ADDRESS = "/v1/portal/photos/";

const starts = (bytes: Uint8Array, at: number, text: string) => text === String.fromCharCode(...bytes.subarray(at, at + text.length));

/** What kind of picture the bytes begin as, whatever they were said to be; null for anything that is none of these. */
export function pictureType(bytes: Uint8Array): "image/jpeg" | "image/png" | "image/webp" | "image/gif" | null {
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return "image/jpeg";
  if (starts(bytes, 0, "\x89PNG\r\n\x1a\n")) return "image/png";
  if (starts(bytes, 0, "RIFF") && starts(bytes, 8, "WEBP")) return "image/webp";
  if (starts(bytes, 0, "GIF87a") || starts(bytes, 0, "GIF89a")) return "image/gif";
  return null;
}

/** Refuses what is too large or no picture, naming `field`. Returns the photo's address on the runtime plane. */
export async function setPhoto(write: Write, tenantId: string, userId: string, content: Uint8Array, field: string): Promise<string> {
  if (content.byteLength > PHOTO_BYTES) throw invalidField(field, "is larger than 5 MB");
  const mimeType = pictureType(content);
  if (mimeType === null) throw invalidField(field, "is no JPEG, PNG, WebP or GIF image");
  const before = await endUserStore.find(write.trx, tenantId, userId, "lock");
  if (before === undefined) throw notFound("end user");
  const photoId = randomBytes(24).toString("base64url");
  await putPhoto(write.trx, { end_user_id: userId, tenant_id: tenantId, photo_id: photoId, mime_type: mimeType, content: Buffer.from(content) });
  const avatarUrl = ADDRESS + photoId;
  await endUserStore.update(write.trx, userId, { avatar_url: avatarUrl, updated_at: write.now });
  write.log({ tenant_id: tenantId, action: "set_photo", resource: END_USERS, resource_id: userId, after: { mime_type: mimeType, size_bytes: content.byteLength } });
  notifyUser(write, before);
  return avatarUrl;
}

export async function photo(directory: Pick<Directory, "db">, photoId: string): Promise<PhotoRow | null> {
  return (await photoByAddress(directory.db, photoId)) ?? null;
}
