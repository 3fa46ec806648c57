import { randomBytes } from "node:crypto";
import type { Clock } from "../../kernel/clock.ts";
import { refuse, Refused } from "../../kernel/errors.ts";
import { isUuid, uuid } from "../../kernel/ids.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import {
  addPageSession,
  lockPageSession,
  type PageSessionRow,
  removePageSession,
  removePageSessionsOf,
  rotatePageSession,
} from "../../store/credentials/page-sessions.ts";
import type { Directory } from "../writes/write.ts";

export type PagePlane = "portal" | "admin";

/** The holder of a session. */
export interface PageSessionHolder {
  readonly tenantId: string | null;
  readonly userId: string;
  /** The holder's `tokens_valid_from` when the session began, epoch milliseconds. */
  readonly generation: number;
  /** The fixed end of the session, epoch milliseconds; null if none was set. */
  readonly endsAt: number | null;
  /** `signedOn` of a portal token, or `factorElsewhere` of an admin token. */
  readonly signedOn: boolean;
}

/** The idle timeout and the maximum duration of a session. */
const IDLE_MS = 12 * 3_600_000;
export const MAX_SESSION_MS = 7 * 24 * 3_600_000;
/** Browser tabs that renew at the same moment all send the same cookie. */
const SAME_MOMENT_MS = 20_000;
/** A token younger than this counts as freshly issued. */
const FRESH_MS = 5 * 60_000;
/** Short, because a token can outlive its page; sessions renew tokens before they expire. */
const PAGE_TOKEN_SECONDS = 900;

const columnOf = (plane: PagePlane) => (plane === "portal" ? "end_user_id" : "admin_user_id");
const newSecret = () => randomBytes(32).toString("base64url");
const endOf = (now: number, createdAt: number, endsAt: number | null) =>
  new Date(Math.min(now + IDLE_MS, createdAt + MAX_SESSION_MS, endsAt ?? Number.POSITIVE_INFINITY));

type Parts = Pick<Directory, "db" | "clock">;

/**
 * The next secret of a session, derived deterministically, so that a lost response can be repeated. It cannot be computed
 * without the gateway's key.
 */
const secretAfter = ({ secrets }: Pick<Directory, "secrets">, id: string, secret: string) =>
  secrets.hmac("page-session", `${id} ${secret}`);

/** Proves that a secret once belonged to the session, however long ago. */
const proofOf = ({ secrets }: Pick<Directory, "secrets">, id: string, secret: string) =>
  secrets.hmac("page-session-proof", `${id} ${secret}`);

const cookieOf = (parts: Pick<Directory, "secrets">, id: string, secret: string) => `${id}.${secret}.${proofOf(parts, id, secret)}`;

/** Refuses a token that was not freshly issued by a sign-in, because a session would extend the life of a stolen one. */
export function refuseStaleToken({ clock }: Pick<Parts, "clock">, token: { readonly issuedAt: number; readonly renewed: boolean }): void {
  if (token.renewed || clock.now() - token.issuedAt > FRESH_MS) throw new Refused(refuse("forbidden", "Sign in again to begin a session."));
}

/** Creates a session and returns its cookie value. */
export async function beginPageSession(
  { db, clock, secrets }: Parts & Pick<Directory, "secrets">,
  plane: PagePlane,
  holder: PageSessionHolder,
): Promise<string> {
  const now = clock.now();
  const id = uuid();
  const secret = newSecret();
  await addPageSession(db, {
    id,
    tenant_id: holder.tenantId,
    end_user_id: plane === "portal" ? holder.userId : null,
    admin_user_id: plane === "admin" ? holder.userId : null,
    generation: new Date(holder.generation),
    secret_hash: sha256Hex(secret),
    previous_hash: null,
    rotated_at: new Date(now),
    created_at: new Date(now),
    expires_at: endOf(now, now, holder.endsAt),
    ends_at: holder.endsAt === null ? null : new Date(holder.endsAt),
    signed_on: holder.signedOn,
  });
  return cookieOf({ secrets }, id, secret);
}

/**
 * The session of a cookie and its next value: the same for all requests that arrive within a moment, such as two tabs or a
 * retry after a lost response. `cookie` is null if only the process that rotated it knows the next value. Null if the
 * cookie belongs to no session. Reusing an older value ends the session, because either a thief or the owner then comes
 * second.
 */
export async function continuePageSession(
  { db, clock, secrets }: Parts & Pick<Directory, "secrets">,
  plane: PagePlane,
  given: string,
): Promise<{ readonly id: string; readonly holder: PageSessionHolder; readonly cookie: string | null } | null> {
  const [id = "", secret = "", proof] = given.split(".");
  if (!isUuid(id) || secret === "") return null;
  const hash = sha256Hex(secret);
  return db.transaction().execute(async (trx) => {
    const row = await lockPageSession(trx, id);
    if (row === undefined) return null;
    const userId = row[columnOf(plane)];
    if (userId === null) return null;
    const used = judged(row, hash, clock);
    const isFormer = used === "unknown" && proof === proofOf({ secrets }, id, secret);
    if (used === "unknown" && !isFormer) return null;
    if (used === "ended" || isFormer) {
      await removePageSession(trx, id);
      return null;
    }
    const endsAt = row.ends_at?.getTime() ?? null;
    const holder = { tenantId: row.tenant_id, userId, generation: row.generation.getTime(), endsAt, signedOn: row.signed_on };
    // A request sent before the last rotation may still be in flight; rotating again would make its cookie look stolen.
    if (used === "just_given") return { id, holder, cookie: cookieOf({ secrets }, id, secret) };
    const next = secretAfter({ secrets }, id, secret);
    const nextHash = sha256Hex(next);
    // During an upgrade or key change, another process may have derived a different value.
    if (used === "just_rotated") return { id, holder, cookie: row.secret_hash === nextHash ? cookieOf({ secrets }, id, next) : null };
    const now = clock.now();
    await rotatePageSession(trx, id, {
      secret_hash: nextHash,
      previous_hash: hash,
      rotated_at: new Date(now),
      expires_at: endOf(now, row.created_at.getTime(), endsAt),
    });
    return { id, holder, cookie: cookieOf({ secrets }, id, next) };
  });
}

function judged(row: PageSessionRow, hash: string, clock: Clock): "current" | "just_given" | "just_rotated" | "ended" | "unknown" {
  const now = clock.now();
  if (row.expires_at.getTime() <= now) return "ended";
  const isSameMoment = now - row.rotated_at.getTime() <= SAME_MOMENT_MS;
  if (row.secret_hash === hash) return isSameMoment && row.previous_hash !== null ? "just_given" : "current";
  if (row.previous_hash !== hash) return "unknown";
  return isSameMoment ? "just_rotated" : "ended";
}

/** The lifetime of a session's next token, in seconds. */
export function pageTokenSeconds({ clock }: Parts, { endsAt }: PageSessionHolder, longest: number): number {
  const left = endsAt === null ? Number.POSITIVE_INFINITY : Math.ceil((endsAt - clock.now()) / 1000);
  return Math.max(1, Math.min(longest, PAGE_TOKEN_SECONDS, left));
}

export async function endPageSession({ db }: Parts, id: string): Promise<void> {
  await removePageSession(db, id);
}

export async function endPageSessionsOf(db: Parameters<typeof removePageSessionsOf>[0], plane: PagePlane, userId: string): Promise<void> {
  await removePageSessionsOf(db, { column: columnOf(plane), id: userId });
}
