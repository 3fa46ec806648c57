import { uuid } from "../../kernel/ids.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import { idTokenContext } from "../../kernel/seal-contexts.ts";
import { adminUserStore } from "../../store/people/admin-users.ts";
import { endUserStore, suspendKeysOf } from "../../store/people/end-users.ts";
import { insertSignOnSession, takeRequestedSignOut, takeSignOnSessions } from "../../store/sign-on/sign-on-sessions.ts";
import { nextGeneration } from "../people/admin-users.ts";
import { END_USERS, notifyUser } from "../people/end-users.ts";
import { nextTokenGeneration } from "../people/token-generation.ts";
import { endPageSessionsOf, type PagePlane } from "../people/page-sessions.ts";
import type { Directory, Write } from "../writes/write.ts";
import type { LogoutToken } from "./logout-token.ts";
import type { SignOnPlace } from "./sign-on-place.ts";

/** A person's session at a provider, in OpenID Connect terms. */
export interface ProviderSession {
  readonly subject: string;
  readonly sessionId: string | null;
  readonly idToken: string;
}

/** No page session lasts longer, although a token may if so configured. */
const RETENTION_MS = 30 * 24 * 3_600_000;
const columnOf = (plane: PagePlane) => (plane === "portal" ? "end_user_id" : "admin_user_id");
const named = (place: Pick<SignOnPlace, "id">, name: string) => sha256Hex(`${place.id} ${name}`);

/** Records a sign-in, so that the provider can sign the person out later. */
export async function noteSignOnSession(
  { db, secrets, clock }: Directory,
  place: SignOnPlace,
  accountId: string,
  session: ProviderSession,
): Promise<void> {
  const id = uuid();
  const isPortal = place.audience === "portal";
  const idToken = place.settings.oidc?.sign_out === true ? session.idToken : null;
  await insertSignOnSession(db, {
    id,
    tenant_id: place.tenantId,
    provider_id: place.id,
    end_user_id: isPortal ? accountId : null,
    admin_user_id: isPortal ? null : accountId,
    subject_hash: named(place, session.subject),
    session_hash: session.sessionId === null ? null : named(place, session.sessionId),
    id_token_sealed: idToken === null ? null : secrets.seal(idToken, idTokenContext(id)),
    created_at: new Date(clock.now()),
    expires_at: new Date(clock.now() + RETENTION_MS),
  });
}

/** Ends all sessions and tokens of those a provider signs out, like a sign-out here. Returns the end users concerned. */
export async function signOutByProvider(write: Write, place: SignOnPlace, token: LogoutToken): Promise<{ readonly endUserIds: string[] }> {
  const gone = await takeSignOnSessions(write.trx, {
    providerId: place.id,
    subjectHash: token.subject === null ? null : named(place, token.subject),
    sessionHash: token.sessionId === null ? null : named(place, token.sessionId),
  });
  const endUserIds = [...new Set(gone.flatMap((row) => row.end_user_id ?? []))];
  const adminIds = [...new Set(gone.flatMap((row) => row.admin_user_id ?? []))];
  if (gone.length === 0) write.stay({}, {}, { endUserIds });
  for (const id of endUserIds) await signOutEndUser(write, place, id);
  for (const id of adminIds) await signOutAdmin(write, place, id);
  return { endUserIds };
}

/**
 * Signs out a person whom the provider no longer admits, and suspends their API keys if the provider is configured to. The
 * keys of a person whom it never admitted do not depend on it, so they are left alone.
 */
export async function endAccessOfEndUser(
  write: Write,
  place: Pick<SignOnPlace, "tenantId" | "name" | "settings">,
  id: string,
  lastLogin: Date | null,
): Promise<void> {
  if (place.settings.suspends_api_keys && lastLogin !== null) await suspendKeysOf(write.trx, place.tenantId, [id], write.now);
  await signOutEndUser(write, place, id);
}

async function signOutEndUser(write: Write, place: Pick<SignOnPlace, "tenantId" | "name">, id: string): Promise<void> {
  const row = await endUserStore.find(write.trx, place.tenantId, id, "lock");
  if (row === undefined) return;
  await endUserStore.update(write.trx, id, { tokens_valid_from: nextTokenGeneration(row, write.directory.clock) });
  await endPageSessionsOf(write.trx, "portal", id);
  write.log({ tenant_id: place.tenantId, action: "sign_out", resource: END_USERS, resource_id: id, after: { provider: place.name } });
  notifyUser(write, row);
}

export async function signOutAdmin(write: Write, place: Pick<SignOnPlace, "tenantId" | "name">, id: string): Promise<void> {
  const row = await adminUserStore.find(write.trx, place.tenantId, id, "lock");
  if (row === undefined) return;
  await adminUserStore.update(write.trx, id, { tokens_valid_from: nextGeneration(row, write.now) });
  await endPageSessionsOf(write.trx, "admin", id);
  write.log({ tenant_id: place.tenantId, action: "sign_out", resource: "admin-users", resource_id: id, after: { provider: place.name } });
}

/** The provider session to be ended along with an account's sign-out; null if there is none. Returned once only. */
export async function requestedSignOut(
  { db, secrets, clock }: Directory,
  plane: PagePlane,
  accountId: string,
): Promise<{ readonly providerId: string; readonly idToken: string } | null> {
  const row = await takeRequestedSignOut(db, { column: columnOf(plane), id: accountId }, new Date(clock.now()));
  const idToken = row === undefined ? null : secrets.openOrNull(row.id_token_sealed, idTokenContext(row.id));
  return row === undefined || idToken === null ? null : { providerId: row.provider_id, idToken };
}
