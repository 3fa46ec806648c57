import type { Registration } from "@gatehouse/contracts/portal";
import type { EndUser } from "@gatehouse/contracts/end-users";
import { refuse, Refused } from "../../../kernel/errors.ts";
import { networkOf } from "../../../kernel/http/ip-address.ts";
import { endUserStore } from "../../../store/people/end-users.ts";
import { tenantStore } from "../../../store/tenants/tenants.ts";
import { endUsers } from "../end-users.ts";
import { pictureType } from "../../pictures/picture.ts";
import { setPhoto } from "../photos.ts";
import { invalidField } from "../../writes/records.ts";
import { write, type Actor } from "../../writes/write.ts";
import type { PortalOrigin, PortalLogins, PortalTenant } from "./portal-logins.ts";

function photoOf(body: Registration): Uint8Array | null {
  if (body.photo_base64 == null) return null;
  const text = body.photo_base64.replace(/^data:[\w/+.-]+;base64,/, "").replace(/\s+/g, "");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw invalidField("photo_base64", "is no base64");
  const content = Buffer.from(text, "base64");
  const type = pictureType(content);
  if (body.photo_mime_type != null && type !== null && type !== body.photo_mime_type)
    throw invalidField("photo_mime_type", `is ${body.photo_mime_type}, but the photo is ${type}`);
  return content;
}

/**
 * Registers a user, unverified and without resource groups until an administrator changes that. Throws
 * `too_many_registrations` with Retry-After before anything is looked up.
 */
export async function registerEndUser(
  logins: PortalLogins,
  into: PortalTenant,
  body: Registration,
  origin: PortalOrigin,
): Promise<EndUser> {
  const { directory, hashing, uses } = logins;
  const retryAfter = await uses.take("registration", origin.address);
  if (retryAfter !== null)
    throw new Refused(refuse("too_many_registrations", undefined, { headers: { "retry-after": String(retryAfter) } }));
  if ("missing" in into) throw new Refused(refuse("registration_closed", undefined, { reason: into.missing }));
  const tenantId = into.id;
  const tenant = await tenantStore.find(directory.db, null, tenantId);
  if (tenant === undefined || tenant.portal_registration === "closed" || !tenant.local_passwords)
    throw new Refused(refuse("registration_closed"));
  const photo = photoOf(body);
  // Hashed before the transaction, which must not hold a connection while waiting for its turn to hash.
  const passwordHash = await hashing.hashPassword(body.password, { of: networkOf(origin.address), known: false });
  const actor: Actor = { id: null, username: null, role: null, clientIp: null, requestId: origin.requestId };
  return write({ ...directory, hashPassword: async () => passwordHash }, actor, async (change) => {
    const user = await endUsers.create(change, tenantId, {
      username: body.username,
      password: body.password,
      email: body.email ?? null,
      display_name: body.display_name ?? null,
    });
    await endUserStore.update(change.trx, user.id, { self_registered: true, avatar_url: body.avatar_url ?? null });
    if (photo !== null) await setPhoto(change, tenantId, user.id, photo, "photo_base64");
    return user;
  });
}
