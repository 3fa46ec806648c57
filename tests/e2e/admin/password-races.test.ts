import { afterAll, beforeAll, expect, test } from "bun:test";
import { endUsers } from "../../../server/directory/people/end-users.ts";
import { LoginThrottle } from "../../../server/directory/people/login-throttle.ts";
import { newBackupCodes, readBackupCode } from "../../../server/directory/people/portal/backup-codes.ts";
import {
  changePortalPassword,
  logInPortalUser,
  logInWithCode,
  type PortalLogins,
  type PortalSession,
} from "../../../server/directory/people/portal/portal-logins.ts";
import type { PortalToken } from "../../../server/directory/people/portal/portal-token.ts";
import { PortalTokens } from "../../../server/directory/people/portal/portal-tokens.ts";
import { disableSecondFactor } from "../../../server/directory/people/portal/second-factor.ts";
import { write } from "../../../server/directory/writes/write.ts";
import { Refused } from "../../../server/kernel/errors.ts";
import { dummyVerify, hashCode, hashPassword, verifyCode, verifyPassword } from "../../../server/runtime/passwords.ts";
import { controlPlane, JWT_SECRET, newTenant, type ControlPlane, type TenantWithAdmin } from "./admin-harness.ts";

// Runs while a password is being verified, which is slow by design.
let meanwhile: (() => Promise<unknown>) | null = null;

async function verifySlowly(password: string, hash: string): Promise<boolean> {
  const right = await verifyPassword(password, hash);
  const happens = meanwhile;
  meanwhile = null;
  await happens?.();
  return right;
}

let plane: ControlPlane;
let acme: TenantWithAdmin;

beforeAll(async () => {
  plane = await controlPlane({ passwords: { hashPassword, verifyPassword: verifySlowly, dummyVerify, hashCode, verifyCode } });
  acme = await newTenant(plane, "acme");
});

afterAll(() => plane.close());

async function newAdmin(username: string): Promise<{ id: string; reset: () => Promise<unknown> }> {
  const { id } = (await acme.send("POST", "/v1/admin/admin-users", { username, password: "the stolen one", role: "viewer" })).body;
  return { id, reset: () => acme.send("PATCH", `/v1/admin/admin-users/${id}`, { password: "set by the owner" }) };
}

test("a login fails if the password is replaced while it is being verified", async () => {
  const { reset } = await newAdmin("one");
  meanwhile = reset;
  const login = await plane.logIn("one", "the stolen one", "acme");
  expect([login.status, login.body.code]).toEqual([401, "unauthenticated"]);
  expect((await plane.logIn("one", "set by the owner", "acme")).status).toBe(200);
});

test("a password set by an owner is not overwritten by the user's change that began before", async () => {
  const { reset } = await newAdmin("two");
  const token = (await plane.logIn("two", "the stolen one", "acme")).body.access_token;
  meanwhile = reset;
  const changed = await plane.as(token)("POST", "/v1/admin-users/change-password", {
    current_password: "the stolen one",
    new_password: "the thief's own",
  });
  expect([changed.status, changed.body.fields?.[0].field]).toEqual([400, "current_password"]);
  expect((await plane.logIn("two", "the thief's own", "acme")).status).toBe(401);
  expect((await plane.logIn("two", "set by the owner", "acme")).status).toBe(200);
});

function portalLogins(): PortalLogins {
  const { clock } = plane.directory;
  return {
    directory: plane.directory,
    tokens: new PortalTokens({ secret: JWT_SECRET, expirySeconds: 60, clock }),
    throttle: new LoginThrottle(clock),
    hashing: { hashPassword, verifyPassword: verifySlowly, verifyCode: verifySlowly },
    users: { drop: () => {} },
  } as unknown as PortalLogins;
}

test("an end user's password set by an administrator is not overwritten by a change that began before", async () => {
  const { id } = (await acme.send("POST", "/v1/admin/end-users", { username: "three", password: "the stolen one" })).body.user;
  const logins = portalLogins();
  const change = () =>
    changePortalPassword(
      logins,
      { tenantId: "acme", userId: id },
      { current: "the stolen one", next: "the thief's own" },
      { address: "10.0.0.1", requestId: "r" },
    );
  meanwhile = () => acme.send("PATCH", `/v1/admin/end-users/${id}`, { password: "set by the owner" });
  const refused = await change().catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Refused);
  expect((refused as Refused).refusal.fields?.[0]?.field).toBe("current_password");
  const { password_hash: hash } = await plane.database.db
    .selectFrom("end_users")
    .select("password_hash")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  expect(await verifyPassword("set by the owner", hash)).toBe(true);
});

test("an end user's login, or its second step, fails if the password is replaced while it is being verified", async () => {
  const { id } = (await acme.send("POST", "/v1/admin/end-users", { username: "four", password: "the stolen one" })).body.user;
  const logins = portalLogins();
  const origin = { address: "10.0.0.1", requestId: "r" };
  const reset = (password: string) => acme.send("PATCH", `/v1/admin/end-users/${id}`, { password });
  const outcomeOf = (login: Promise<unknown>) => login.catch((error: unknown) => (error instanceof Refused ? error.refusal.reason : error));
  meanwhile = () => reset("set by the owner");
  expect(await outcomeOf(logInPortalUser(logins, { id: "acme" }, { username: "four", password: "the stolen one" }, origin))).toBe(
    "wrong_password",
  );

  const { db } = plane.database;
  const row = () => db.selectFrom("end_users").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const [code = ""] = newBackupCodes();
  await db
    .insertInto("end_user_backup_codes")
    .values({ end_user_id: id, slot: 0, code_hash: await hashPassword(readBackupCode(code)?.text ?? ""), used_at: null })
    .execute();
  await db.updateTable("end_users").set({ totp_enabled: true }).where("id", "=", id).execute();
  const tempToken = await logins.tokens.issueSecondStep(await row());
  meanwhile = () => reset("set by the owner once more");
  expect(await outcomeOf(logInWithCode(logins, { tempToken, code }, origin))).toBe("wrong_code");
  // The code itself was correct.
  expect(
    (await db.selectFrom("end_user_backup_codes").select("used_at").where("end_user_id", "=", id).executeTakeFirstOrThrow()).used_at,
  ).not.toBeNull();
});

test("a login fails if the end user is deactivated while the password is being verified", async () => {
  const { id } = (await acme.send("POST", "/v1/admin/end-users", { username: "seven", password: "their own password" })).body.user;
  meanwhile = () => acme.send("PATCH", `/v1/admin/end-users/${id}/status`, { is_active: false });
  const login = logInPortalUser(
    portalLogins(),
    { id: "acme" },
    { username: "seven", password: "their own password" },
    { address: "10.0.0.1", requestId: "r" },
  );
  expect(await login.catch((error: unknown) => (error as Refused).refusal?.reason)).toBe("wrong_password");
});

test("a token issued during a password reset is invalid once the reset is committed", async () => {
  const { id } = (await acme.send("POST", "/v1/admin/end-users", { username: "five", password: "the stolen one" })).body.user;
  const logins = portalLogins();
  let token = "";
  await write(plane.directory, { id: null, username: null, role: null, clientIp: null, requestId: null }, async (change) => {
    token = (
      (await logInPortalUser(
        logins,
        { id: "acme" },
        { username: "five", password: "the stolen one" },
        { address: "10.0.0.1", requestId: "r" },
      )) as PortalSession
    ).token;
    await endUsers.update(change, "acme", id, { password: "set by the owner" });
  });
  const { issuedAt } = (await logins.tokens.verify(token)) as PortalToken;
  const { tokens_valid_from: validFrom } = await plane.database.db
    .selectFrom("end_users")
    .select("tokens_valid_from")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  expect(validFrom.getTime()).toBeGreaterThan(issuedAt);
});

test("the old password does not disable two-factor sign-in if it is replaced while being verified", async () => {
  const { id } = (await acme.send("POST", "/v1/admin/end-users", { username: "six", password: "the stolen one" })).body.user;
  const { db } = plane.database;
  await db.updateTable("end_users").set({ totp_enabled: true, totp_secret_sealed: "sealed" }).where("id", "=", id).execute();
  meanwhile = () => acme.send("PATCH", `/v1/admin/end-users/${id}`, { password: "set by the owner" });
  const refused = await disableSecondFactor(
    portalLogins(),
    { tenantId: "acme", userId: id },
    { password: "the stolen one" },
    { address: "10.0.0.1", requestId: "r" },
  ).catch((error: unknown) => error);
  expect((refused as Refused).refusal?.fields?.[0]?.field).toBe("password");
  expect((await db.selectFrom("end_users").select("totp_enabled").where("id", "=", id).executeTakeFirstOrThrow()).totp_enabled).toBe(true);
});
