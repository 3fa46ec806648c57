import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "kysely";
import { jsonLog } from "../../../server/kernel/log.ts";
import { type DatabaseConnection, openDatabase } from "../../../server/store/database.ts";
import { signIn } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { newPerson, PASSWORD } from "../../support/worlds/portal.ts";
import { totpCode } from "../../support/identity/totp.ts";
import { startWorld, type World } from "../../support/world.ts";

let world: World;
let connection: DatabaseConnection;
let portal: string;
let controlPlane: string;
let username: string;

beforeAll(async () => {
  world = await startWorld();
  connection = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 1 });
  portal = `${world.gateway.runtimeUrl}/v1/portal/auth`;
  controlPlane = `${world.gateway.adminUrl}/v1/admin-users`;
  username = "pat";
  await newPerson(world.gateway.runtimeUrl, username);
});
afterAll(async () => {
  await connection.close();
  await world.end();
});

/** Backdates the last rotation of all page sessions by a minute. */
async function backdateRotations(): Promise<void> {
  await sql`UPDATE page_sessions SET rotated_at = rotated_at - interval '1 minute'`.execute(connection.db);
}

const currentCode = (secret: string) => totpCode(secret, Math.floor(Date.now() / 30_000));
const OWN = { "x-gw-session": "page" };
const json = (body: unknown, headers: Record<string, string> = {}) => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const cookieOf = (response: Response) => response.headers.get("set-cookie")?.split(";")[0] ?? "";

describe.each([
  {
    plane: "portal",
    logIn: async () => (await (await fetch(`${portal}/login`, json({ username, password: PASSWORD }))).json()) as any,
    session: () => `${portal}/session`,
    probe: (token: string) => fetch(`${portal}/profile`, { headers: bearer(token) }),
    change: (token: string) =>
      fetch(`${portal}/change-password`, json({ current_password: PASSWORD, new_password: PASSWORD }, bearer(token))),
  },
  {
    plane: "console",
    logIn: async () =>
      (await (await fetch(`${controlPlane}/system/login`, json({ username: "admin", password: ADMIN_PASSWORD }))).json()) as any,
    session: () => `${controlPlane}/session`,
    probe: (token: string) => fetch(`${controlPlane}/me`, { headers: bearer(token) }),
    change: (token: string) =>
      fetch(`${controlPlane}/change-password`, json({ current_password: ADMIN_PASSWORD, new_password: ADMIN_PASSWORD }, bearer(token))),
  },
])("the browser session of the $plane", ({ logIn, session, probe, change }) => {
  const begin = async () => {
    const { access_token: token } = await logIn();
    const begun = await fetch(session(), { method: "POST", headers: { ...OWN, ...bearer(token) } });
    expect(begun.status).toBe(204);
    return { token: token as string, begun, cookie: cookieOf(begun) };
  };
  const renew = (cookie: string, headers: Record<string, string> = OWN) =>
    fetch(`${session()}/renew`, { method: "POST", headers: { ...headers, cookie } });

  test("has a cookie that is HttpOnly, SameSite=Strict and limited to one path", async () => {
    const { begun } = await begin();
    const set = begun.headers.get("set-cookie") ?? "";
    for (const part of ["HttpOnly", "SameSite=Strict", `Path=${new URL(session()).pathname}`]) expect(set).toContain(part);
    expect(set).not.toContain("Max-Age");
  });

  test("has a __Host- cookie over https, and there ignores a cookie without that prefix", async () => {
    const { access_token: token } = await logIn();
    const https = { ...OWN, "x-forwarded-proto": "https" };
    const begun = await fetch(session(), { method: "POST", headers: { ...https, ...bearer(token) } });
    const set = begun.headers.get("set-cookie") ?? "";
    expect(set).toMatch(/^__Host-gw_(portal|console)_session=/);
    expect(set.split("; ").slice(1).toSorted()).toEqual(["HttpOnly", "Path=/", "SameSite=Strict", "Secure"]);
    const cookie = cookieOf(begun);
    const planted = cookie.replace("__Host-", "");
    expect((await renew(planted, https)).status).toBe(204);
    const renewed = await renew(cookie, https);
    expect([renewed.status, cookieOf(renewed).split("=")[0]]).toEqual([200, cookie.split("=")[0] ?? ""]);
    const ended = await fetch(session(), { method: "DELETE", headers: { ...https, ...bearer(token) } });
    expect(ended.headers.get("set-cookie")).toMatch(/^__Host-gw_(portal|console)_session=; Max-Age=0; Path=\/; /);
  });

  test("yields a new token and a new cookie at each renewal", async () => {
    const { cookie } = await begin();
    const first = await renew(cookie);
    const next = cookieOf(first);
    expect(first.status).toBe(200);
    expect(next).not.toBe(cookie);
    const { access_token, expires_in } = (await first.json()) as any;
    expect(expires_in).toBeLessThanOrEqual(900);
    expect((await probe(access_token)).status).toBe(200);
    expect((await renew(next)).status).toBe(200);
  });

  test("cannot be started with a renewed token, but with a token of a login or a password change", async () => {
    const { token, cookie } = await begin();
    const { access_token: renewed } = (await (await renew(cookie)).json()) as any;
    const another = (bearerToken: string) => fetch(session(), { method: "POST", headers: { ...OWN, ...bearer(bearerToken) } });
    expect([(await another(renewed)).status, (await another(token)).status]).toEqual([403, 204]);
    const changed = await change(renewed);
    expect(changed.status).toBe(200);
    expect((await another(((await changed.json()) as any).access_token)).status).toBe(204);
  });

  test("goes on in two tabs that renew at the same time, with the same cookie for both", async () => {
    const { cookie } = await begin();
    const answers = await Promise.all([renew(cookie), renew(cookie)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const [next = "", same] = answers.map(cookieOf);
    expect(same).toBe(next);
    expect((await renew(next)).status).toBe(200);
  });

  test("survives repeated reloads next to a tab whose request is slow", async () => {
    const { cookie } = await begin();
    let next = cookie;
    for (let time = 0; time < 4; time++) next = cookieOf(await renew(next));
    const slow = await renew(cookie);
    expect([slow.status, cookieOf(slow)]).toEqual([200, next]);
    await backdateRotations();
    const later = await renew(next);
    expect(later.status).toBe(200);
    expect(cookieOf(later)).not.toBe(next);
  });

  test("goes on when a renewal is repeated because its response was lost", async () => {
    const { cookie } = await begin();
    await renew(cookie);
    const again = await renew(cookie);
    expect(again.status).toBe(200);
    // Much later, when presenting an already used cookie would end the session.
    await backdateRotations();
    expect((await renew(cookieOf(again))).status).toBe(200);
  });

  test("ends for every holder when a cookie is presented long after it was replaced", async () => {
    const { cookie } = await begin();
    const next = cookieOf(await renew(cookie));
    await backdateRotations();
    expect([(await renew(cookie)).status, (await renew(next)).status]).toEqual([204, 204]);
  });

  test("ends for a thief who has renewed the cookie for hours once its owner returns with the old one", async () => {
    const { cookie } = await begin();
    let stolen = cookie;
    for (let time = 0; time < 4; time++) {
      await backdateRotations();
      stolen = cookieOf(await renew(stolen));
    }
    expect([(await renew(cookie)).status, (await renew(stolen)).status]).toEqual([204, 204]);
  });

  test("is not ended by an invented former cookie, and accepts a cookie without a former secret", async () => {
    const { cookie } = await begin();
    const [id, secret] = cookie.slice(cookie.indexOf("=") + 1).split(".");
    const named = cookie.slice(0, cookie.indexOf("="));
    expect((await renew(`${named}=${id}.${"0".repeat(64)}.${"0".repeat(64)}`)).status).toBe(204);
    expect((await renew(`${named}=${id}.${secret}`)).status).toBe(200);
  });

  test("is not renewed by requests from other origins or without the pages' header", async () => {
    const { cookie } = await begin();
    for (const headers of [
      {},
      { ...OWN, origin: "https://elsewhere.example" },
      { ...OWN, "sec-fetch-site": "cross-site" },
      { ...OWN, "sec-fetch-site": "same-site" },
    ] as Record<string, string>[])
      expect((await renew(cookie, headers)).status).toBe(403);
    expect((await renew(cookie)).status).toBe(200);
  });

  test("is answered with 204 and no error where there is none", async () => {
    for (const cookie of ["", "gw_portal_session=x; gw_controlPlanesession=x", `gw_portal_session=${crypto.randomUUID()}.abc`])
      expect((await renew(cookie)).status).toBe(204);
  });

  test("and all other sessions and tokens of the user end at sign-out", async () => {
    const one = await begin();
    const other = await begin();
    expect((await fetch(session(), { method: "DELETE", headers: { ...OWN, ...bearer(one.token) } })).status).toBe(204);
    expect((await renew(one.cookie)).status).toBe(204);
    expect((await renew(other.cookie)).status).toBe(204);
    expect((await probe(one.token)).status).toBe(401);
    expect((await probe(other.token)).status).toBe(401);
  });
});

describe("two-factor sign-in of administrators", () => {
  const call = (token: string, method: string, path: string, body?: unknown) =>
    fetch(`${controlPlane}${path}`, {
      ...(body === undefined ? {} : json(body)),
      method,
      headers: { ...bearer(token), "content-type": "application/json" },
    });

  test("in a tenant that requires it, administrators can do nothing else before they set it up", async () => {
    const admin = await signIn(world.gateway.adminUrl);
    await admin.post("/v1/admin/tenants", { id: "strict", name: "strict", admin_two_factor: "required" });
    await admin.post("/v1/admin/admin-users", { tenant_id: "strict", username: "ada", password: PASSWORD });
    const password = { username: "ada", password: PASSWORD, tenant_id: "strict" };
    const { access_token: token, user } = (await (await fetch(`${controlPlane}/tenant/login`, json(password))).json()) as any;
    expect(user.two_factor).toBe("owed");
    const groups = (bearerToken: string) => fetch(`${world.gateway.adminUrl}/v1/admin/resource-groups`, { headers: bearer(bearerToken) });
    const refused = await groups(token);
    expect([refused.status, ((await refused.json()) as any).code]).toEqual([403, "two_factor_required"]);

    const { secret, backup_codes } = (await (await call(token, "POST", "/2fa/setup")).json()) as any;
    expect(backup_codes).toHaveLength(10);
    expect((await call(token, "POST", "/2fa/verify", { code: "000000" })).status).toBe(400);
    const used = currentCode(secret);
    expect((await call(token, "POST", "/2fa/verify", { code: used })).status).toBe(200);
    expect((await groups(token)).status).toBe(200);

    const owed = (await (await fetch(`${controlPlane}/tenant/login`, json(password))).json()) as any;
    expect(owed).toEqual({ requires_2fa: true, temp_token: expect.any(String), user: { id: user.id, username: "ada" } });
    expect((await groups(owed.temp_token)).status).toBe(401);
    const finish = (code: string) => fetch(`${controlPlane}/login/2fa`, json({ temp_token: owed.temp_token, code }));
    expect((await finish(used)).status).toBe(401);
    const finished = await finish(backup_codes[0]);
    expect(finished.status).toBe(200);
    expect((await finish(backup_codes[0])).status).toBe(401);
    expect((await groups(((await finished.json()) as any).access_token)).status).toBe(200);
  });
});

test("disabling local passwords between the two steps of a sign-in makes the second step fail", async () => {
  const admin = await signIn(world.gateway.adminUrl);
  await admin.post("/v1/admin/tenants", { id: "closing", name: "closing" });
  await admin.post("/v1/admin/admin-users", { tenant_id: "closing", username: "eve", password: PASSWORD, role: "admin" });
  await admin.post("/v1/admin/end-users", { tenant_id: "closing", username: "eve", password: PASSWORD });
  const named = { "x-tenant-id": "closing" };
  const given = { username: "eve", password: PASSWORD };
  const begun = await Promise.all(
    [
      { base: portal, login: "/login", body: given },
      { base: controlPlane, login: "/tenant/login", body: { ...given, tenant_id: "closing" } },
    ].map(async ({ base, login, body }) => {
      const post = async (path: string, content: unknown, token?: string) => {
        const response = await fetch(`${base}${path}`, json(content, { ...named, ...(token === undefined ? {} : bearer(token)) }));
        return { status: response.status, body: (await response.json()) as any };
      };
      const { access_token: token } = (await post(login, body)).body;
      const { secret, backup_codes } = (await post("/2fa/setup", undefined, token)).body;
      expect((await post("/2fa/verify", { code: currentCode(secret) }, token)).status).toBe(200);
      const owed = (await post(login, body)).body.temp_token as string;
      return (code: 0 | 1) => post("/login/2fa", { temp_token: owed, code: backup_codes[code] });
    }),
  );
  const finished = () => Promise.all(begun.map(async (finish) => (await finish(1)).status));
  await admin.request("PATCH", "/v1/admin/tenants/closing", { local_passwords: false });
  expect(await finished()).toEqual([401, 401]);
  await admin.request("PATCH", "/v1/admin/tenants/closing", { local_passwords: true });
  // What began with a password ended for good when passwords were switched off.
  expect(await finished()).toEqual([401, 401]);
});
