import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { resetFactorCommand } from "../../../server/cli/reset-2fa.ts";
import { resetPasswordCommand } from "../../../server/cli/reset-password.ts";
import { resetFactorByOperator } from "../../../server/directory/people/reset-factor-by-operator.ts";
import { resetPasswordByOperator } from "../../../server/directory/people/reset-password-by-operator.ts";
import { totpCode } from "../../support/identity/totp.ts";
import { ADMIN_PASSWORD, controlPlane, newTenant, type ControlPlane, type Send } from "./admin-harness.ts";

/** The second factor of an administrator who lost it is reset by another one; where nobody else can help, the command line does. */

let plane: ControlPlane;
let owner: Send;
let ownerId: string;

beforeAll(async () => {
  plane = await controlPlane();
  const made = await newTenant(plane, "acme");
  [owner, ownerId] = [made.send, made.admin.id];
});
afterAll(() => plane.close());

let people = 0;
/** An administrator with two-factor sign-in, signed in also at a page; a system administrator if the role is null. */
async function enrolled(role: string | null) {
  const username = `admin-${++people}`;
  const tenant = role === null ? undefined : "acme";
  const body = { username, password: ADMIN_PASSWORD, ...(role === null ? { role: "system_admin" } : { tenant_id: tenant, role }) };
  const { id } = (await plane.system("POST", "/v1/admin/admin-users", body)).body;
  const logIn = () => plane.logIn(username, ADMIN_PASSWORD, tenant);
  const send = plane.as((await logIn()).body.access_token);
  expect((await send("POST", "/v1/admin-users/session", undefined, { "x-gw-session": "page" })).status).toBe(204);
  const { secret } = (await send("POST", "/v1/admin-users/2fa/setup")).body;
  const code = totpCode(secret, Math.floor(Date.now() / 30_000));
  expect((await send("POST", "/v1/admin-users/2fa/verify", { code })).status).toBe(200);
  expect((await logIn()).body.requires_2fa).toBe(true);
  return { id: id as string, username, send, logIn };
}
const reset = (send: Send, id: string) => send("POST", `/v1/admin/admin-users/${id}/2fa/reset`);
const sessionsOf = async (id: string) =>
  (await sql`SELECT FROM page_sessions WHERE admin_user_id = ${id}`.execute(plane.database.db)).rows.length;

test("a reset switches the second factor off, ends the person's sessions and tokens, and is in the admin log", async () => {
  const lost = await enrolled("admin");
  const { temp_token } = (await lost.logIn()).body;
  expect(await sessionsOf(lost.id)).toBe(1);
  expect((await owner("GET", `/v1/admin/admin-users/${lost.id}`)).body.totp_enabled).toBe(true);

  const done = await reset(owner, lost.id);
  expect([done.status, done.body.totp_enabled]).toEqual([200, false]);
  expect([(await lost.send("GET", "/v1/admin-users/me")).status, await sessionsOf(lost.id)]).toEqual([401, 0]);
  expect((await plane.send("POST", "/v1/admin-users/login/2fa", { temp_token, code: "000000" })).status).toBe(401);
  const again = plane.as((await lost.logIn()).body.access_token);
  expect((await again("GET", "/v1/admin-users/2fa")).body).toEqual({
    enabled: false,
    pending: false,
    backup_codes_remaining: 0,
    has_password: true,
  });
  const { entries } = (await owner("GET", `/v1/admin/admin-log?resource=admin-users&resource_id=${lost.id}&action=reset_2fa`)).body;
  expect(entries).toMatchObject([{ actor_id: ownerId, before: { totp_enabled: true }, after: { totp_enabled: false } }]);
});

test("after a reset, an administrator whose tenant requires two factors sets one up before anything else", async () => {
  const lost = await enrolled("viewer");
  await plane.system("PATCH", "/v1/admin/tenants/acme", { admin_two_factor: "required" });
  expect((await reset(plane.system, lost.id)).status).toBe(200);
  const { access_token, user } = (await lost.logIn()).body;
  expect(user.two_factor).toBe("owed");
  expect((await plane.as(access_token)("GET", "/v1/admin/resource-groups")).body.code).toBe("two_factor_required");
  await plane.system("PATCH", "/v1/admin/tenants/acme", { admin_two_factor: "optional" });
});

test("the command line resets the second factor of a system administrator whom nobody else can help", async () => {
  const lost = await enrolled(null);
  const run = async (...argv: string[]) => {
    const told = { stdout: "", stderr: "" };
    const io = { stdout: (text: string) => void (told.stdout += text), stderr: (text: string) => void (told.stderr += text) };
    return { code: await resetFactorCommand(argv, { DATABASE_URL: plane.database.url }, resetFactorByOperator, io), ...told };
  };
  expect(await run(lost.username, "--tenant", "acme")).toMatchObject({
    code: 1,
    stderr: `gatehouse reset-2fa: there is no administrator of the tenant acme with the name ${lost.username}\n`,
  });
  expect((await lost.logIn()).body.requires_2fa).toBe(true);
  expect(await run(lost.username.toUpperCase())).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`The second factor of ${lost.username} is off`),
  });
  expect([(await lost.send("GET", "/v1/admin-users/me")).status, await sessionsOf(lost.id)]).toEqual([401, 0]);
  expect((await lost.logIn()).body.user.two_factor).toBe("off");
  expect((await run(lost.username)).stdout).toBe(`${lost.username} has no second factor. Nothing was changed.\n`);
  const { entries } = (await plane.system("GET", `/v1/admin/admin-log?resource_id=${lost.id}&action=reset_2fa`)).body;
  expect(entries).toMatchObject([{ actor_id: null, actor_username: null, before: { totp_enabled: true } }]);
  expect((await plane.system("POST", "/v1/admin/admin-log/verify")).body.verdict).toBe("intact");
});

test("nobody resets their own second factor, one above their rank, one of another tenant, or any without users:write", async () => {
  const [admin, other, viewer, system] = [await enrolled("admin"), await enrolled("owner"), await enrolled("viewer"), await enrolled(null)];
  const foreign = (await newTenant(plane, "beta")).send;
  const own = await reset(admin.send, admin.id);
  expect([own.status, own.body.code]).toEqual([409, "own_account"]);
  expect([await reset(admin.send, other.id), await reset(viewer.send, admin.id)].map(({ status }) => status)).toEqual([403, 403]);
  expect([await reset(owner, system.id), await reset(foreign, admin.id)].map(({ status }) => status)).toEqual([404, 404]);
  for (const { logIn } of [admin, other, system]) expect((await logIn()).body.requires_2fa).toBe(true);

  expect((await reset(owner, other.id)).body.totp_enabled).toBe(false);
  expect((await reset(plane.system, system.id)).body.totp_enabled).toBe(false);
});

test("the command line gives an administrator whose password is lost a new one", async () => {
  const lost = await enrolled(null);
  const run = async (...argv: string[]) => {
    const told = { stdout: "", stderr: "" };
    const io = { stdout: (text: string) => void (told.stdout += text), stderr: (text: string) => void (told.stderr += text) };
    return { code: await resetPasswordCommand(argv, { DATABASE_URL: plane.database.url }, resetPasswordByOperator, io), ...told };
  };
  expect(await run("nobody")).toEqual({
    code: 1,
    stdout: "",
    stderr: "gatehouse reset-password: there is no system administrator with the name nobody\n",
  });
  const { code, stdout } = await run(lost.username);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/shown only once: \S{24}\n.* reset-2fa switches that off\.\n$/s)]);
  const password = /once: (\S+)/.exec(stdout)?.[1] ?? "";
  expect([(await lost.send("GET", "/v1/admin-users/me")).status, (await lost.logIn()).status]).toEqual([401, 401]);
  expect((await plane.logIn(lost.username, password)).body.requires_2fa).toBe(true);

  const username = "of-a-tenant-without-passwords";
  await plane.system("POST", "/v1/admin/admin-users", { username, password: ADMIN_PASSWORD, tenant_id: "acme", role: "viewer" });
  expect((await run(username, "--tenant", "acme")).stdout).toMatch(/^The new password of \S+, shown only once: \S{24}\n$/);
  await plane.system("PATCH", "/v1/admin/tenants/acme", { local_passwords: false });
  expect((await run(username, "--tenant", "acme")).stdout).toContain("break_glass only");
  await plane.system("PATCH", "/v1/admin/tenants/acme", { local_passwords: true });
  const { entries } = (await plane.system("GET", `/v1/admin/admin-log?resource_id=${lost.id}&action=update`)).body;
  expect(entries).toMatchObject([{ actor_id: null, after: { password: "***" } }]);
});
