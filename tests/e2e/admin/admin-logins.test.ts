import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { cpuMs } from "../../support/processes/cpu-time.ts";
import { ADMIN_PASSWORD, controlPlane, movableClock, newTenant, type ControlPlane, type TenantWithAdmin } from "./admin-harness.ts";

const clock = movableClock();
let plane: ControlPlane;
let acme: TenantWithAdmin;
const tokens: string[] = [];

beforeAll(async () => {
  plane = await controlPlane({ clock, jwtExpirySeconds: 1_000_000 });
  acme = await newTenant(plane, "acme");
});
afterAll(() => plane.close());

async function newUser(username: string, role: string) {
  const made = await acme.send("POST", "/v1/admin/admin-users", { username, password: ADMIN_PASSWORD, role });
  const login = await plane.logIn(username, ADMIN_PASSWORD, "acme");
  tokens.push(login.body.access_token);
  return { id: made.body.id as string, token: login.body.access_token as string, send: plane.as(login.body.access_token) };
}

describe("an administrator's login", () => {
  test("returns a token and the user it is for", async () => {
    const reply = await plane.logIn("OWNER-of-acme", ADMIN_PASSWORD, "acme");
    expect(reply.body).toMatchObject({
      token_type: "bearer",
      expires_in: 1_000_000,
      user: { username: "owner-of-acme", role: "owner", tenant_id: "acme" },
    });
    const me = await plane.as(reply.body.access_token)("GET", "/v1/admin-users/me");
    expect(me.body).toEqual(reply.body.user);
    expect(me.body.permissions).toContain("proxy:logs:read_bodies");
  });

  test("takes as much CPU time for an account without a local password as for an unknown username", async () => {
    await newUser("elsewhere", "viewer");
    await plane.database.db.updateTable("admin_users").set({ password_hash: "none" }).where("username", "=", "elsewhere").execute();
    const workOf = async (username: string) => {
      const before = cpuMs();
      expect((await plane.logIn(username, "a guess", "acme")).status).toBe(401);
      return cpuMs(before);
    };
    const least = async (username: string) => Math.min(await workOf(username), await workOf(username), await workOf(username));
    expect(await least("elsewhere")).toBeGreaterThan((await least("nobody-at-all")) / 2);
  });

  test("needs no tenant while only one tenant has the username", async () => {
    const alone = await plane.send("POST", "/v1/admin-users/tenant/login", { username: "owner-of-acme", password: ADMIN_PASSWORD });
    expect([alone.status, alone.body.user.tenant_id]).toEqual([200, "acme"]);
    const header = await plane.send(
      "POST",
      "/v1/admin-users/tenant/login",
      { username: "owner-of-acme", password: ADMIN_PASSWORD },
      { "x-tenant-id": "acme" },
    );
    expect(header.status).toBe(200);
    expect((await plane.logIn("admin", ADMIN_PASSWORD, "acme")).status).toBe(401);
    expect((await plane.logIn("owner-of-acme", ADMIN_PASSWORD)).status).toBe(401);
  });

  test("that fails counts as one attempt per account, whichever login path is used", async () => {
    const person = { username: "whoever", password: ADMIN_PASSWORD };
    await acme.send("POST", "/v1/admin/admin-users", { ...person, role: "viewer" });
    const logIn = (body: object, path = "login") => plane.send("POST", `/v1/admin-users/${path}`, body);
    const failures = async () => (await plane.system("GET", "/v1/admin/admin-log?action=login_failed&page_size=1")).body.total;
    const before = await failures();
    expect((await logIn(person)).body.user).toMatchObject({ username: "whoever", tenant_id: "acme" });
    expect((await logIn({ ...person, tenant_id: "acme" })).status).toBe(200);
    expect((await logIn({ username: "ADMIN", password: ADMIN_PASSWORD, tenant_id: "acme" })).body.user).toMatchObject({
      role: "system_admin",
    });
    expect(await failures()).toBe(before);

    const wrong = { ...person, password: "another one" };
    for (const path of ["login", "tenant/login", "login", "tenant/login", "login"]) expect((await logIn(wrong, path)).status).toBe(401);
    expect(await failures()).toBe(before + 5);
    expect([(await logIn(person)).status, (await logIn(person, "tenant/login")).status]).toEqual([429, 429]);
    clock.advance(11 * 60_000);
    expect([(await logIn({ username: "no one", password: "at all" })).status, await failures()]).toEqual([401, before + 6]);
  });

  test("with a username that both the system and a tenant have signs in the one whose password matches", async () => {
    const [ofSystem, ofTenant] = ["of the system 1", "of the tenant 1"];
    const { body: system } = await plane.system("POST", "/v1/admin/admin-users", {
      username: "both",
      password: ofSystem,
      role: "system_admin",
    });
    await acme.send("POST", "/v1/admin/admin-users", { username: "both", password: ofTenant, role: "viewer" });
    const roleOf = async (password: string) => {
      const { status, body } = await plane.send("POST", "/v1/admin-users/login", { username: "both", password });
      return status === 200 ? body.user.role : status;
    };
    expect([await roleOf(ofSystem), await roleOf(ofTenant), await roleOf("of neither")]).toEqual(["system_admin", "viewer", 401]);
    await plane.system("DELETE", `/v1/admin/admin-users/${system.id}`);
  });

  test("is throttled equally for existing and unknown usernames, so that throttling reveals no account", async () => {
    const ofSystem = { username: "only-system", password: ADMIN_PASSWORD, role: "system_admin" };
    const { body: made } = await plane.system("POST", "/v1/admin/admin-users", ofSystem);
    await acme.send("POST", "/v1/admin/admin-users", { username: "only-tenant", password: ADMIN_PASSWORD, role: "viewer" });
    const logIn = async (path: string, username: string) =>
      (
        await plane.send("POST", `/v1/admin-users/${path}`, {
          username,
          password: "a guess",
          ...(path !== "system/login" && { tenant_id: "acme" }),
        })
      ).status;
    const guessed = async (first: string, then: readonly string[], username: string) => {
      const statuses: number[] = [];
      for (const path of [...Array<string>(5).fill(first), ...then]) statuses.push(await logIn(path, username));
      clock.advance(11 * 60_000);
      return statuses;
    };
    for (const [first, then] of [
      ["login", ["system/login", "tenant/login", "login"]],
      ["system/login", ["login", "tenant/login"]],
      ["tenant/login", ["login", "system/login"]],
    ] as const) {
      const [ofNobody, ...ofOthers] = [
        await guessed(first, then, "nobody-at-all"),
        await guessed(first, then, "only-system"),
        await guessed(first, then, "only-tenant"),
      ];
      expect([first, ...ofOthers]).toEqual([first, ofNobody, ofNobody]);
      expect(ofNobody?.slice(0, 6)).toEqual([401, 401, 401, 401, 401, 429]);
    }
    await plane.system("DELETE", `/v1/admin/admin-users/${made.id}`);
  });

  test("with an empty X-Tenant-ID names no tenant, and signs in no system administrator at the tenant path", async () => {
    const none = { "x-tenant-id": "" };
    const logIn = async (path: string, username: string) =>
      (await plane.send("POST", `/v1/admin-users/${path}`, { username, password: ADMIN_PASSWORD }, none)).body.user?.role ?? 401;
    expect([await logIn("tenant/login", "admin"), await logIn("tenant/login", "owner-of-acme")]).toEqual([401, "owner"]);
    expect([await logIn("login", "admin"), await logIn("login", "owner-of-acme")]).toEqual(["system_admin", "owner"]);
  });

  test("matches usernames in any Unicode normalization form", async () => {
    const [name, apart] = ["jörg", "jo\u0308rg"];
    const made = await acme.send("POST", "/v1/admin/admin-users", { username: apart, password: ADMIN_PASSWORD, role: "viewer" });
    expect([made.status, made.body.username]).toEqual([201, name]);
    expect((await acme.send("POST", "/v1/admin/admin-users", { username: name, password: ADMIN_PASSWORD })).body.existing_id).toBe(
      made.body.id,
    );
    for (const way of [name, apart]) {
      expect((await plane.logIn(way, ADMIN_PASSWORD, "acme")).body.user.id).toBe(made.body.id);
      expect((await plane.send("POST", "/v1/admin-users/tenant/login", { username: way, password: ADMIN_PASSWORD })).status).toBe(200);
      expect((await acme.send("GET", `/v1/admin/admin-users?search=${encodeURIComponent(way)}`)).body.total).toBe(1);
    }
  });

  test("is throttled per account, whether or not the request names the tenant", async () => {
    await acme.send("POST", "/v1/admin/admin-users", { username: "counted", password: ADMIN_PASSWORD, role: "viewer" });
    const attempt = async (body: object, headers = {}) =>
      (await plane.send("POST", "/v1/admin-users/tenant/login", { username: "counted", ...body }, headers)).status;
    const wrong = { password: "wrong password" };
    const failures = [
      await attempt({ ...wrong, tenant_id: "acme" }),
      await attempt(wrong),
      await attempt(wrong, { "x-tenant-id": "acme" }),
      await attempt({ ...wrong, username: "COUNTED" }),
      await attempt(wrong),
    ];
    expect(failures).toEqual([401, 401, 401, 401, 401]);
    expect([await attempt({ password: ADMIN_PASSWORD, tenant_id: "acme" }), await attempt({ password: ADMIN_PASSWORD })]).toEqual([
      429, 429,
    ]);
  });

  test("accepts usernames in any script with combining marks, but no spaces or invisible characters", async () => {
    for (const name of ["हिन्दी", "สมชาย-ใจดี", "x\u0302"]) {
      expect((await acme.send("POST", "/v1/admin/admin-users", { username: name, password: ADMIN_PASSWORD, role: "viewer" })).status).toBe(
        201,
      );
      expect((await plane.logIn(name, ADMIN_PASSWORD, "acme")).body.user.username).toBe(name);
    }
    for (const name of ["a b", "a\u200db", "a/b", "a\ufe0f", "a\u3164"])
      expect((await acme.send("POST", "/v1/admin/admin-users", { username: name, password: ADMIN_PASSWORD })).status).toBe(400);
  });

  test("fails with the same response for every reason, and only the admin log states the reason", async () => {
    const away = await newUser("away", "viewer");
    await plane.system("PATCH", `/v1/admin/admin-users/${away.id}`, { is_active: false });
    await plane.system("POST", "/v1/admin/tenants", { id: "closed", name: "closed" });
    await plane.system("POST", "/v1/admin/admin-users", { tenant_id: "closed", username: "shut", password: ADMIN_PASSWORD });
    await plane.system("PATCH", "/v1/admin/tenants/closed", { enabled: false });
    const replies = [
      await plane.logIn("no-such-user", ADMIN_PASSWORD, "acme"),
      await plane.logIn("owner-of-acme", "wrong password", "acme"),
      await plane.logIn("away", ADMIN_PASSWORD, "acme"),
      await plane.logIn("shut", ADMIN_PASSWORD, "closed"),
      await plane.logIn("owner-of-acme", ADMIN_PASSWORD, "no-such-tenant"),
    ];
    for (const reply of replies)
      expect([reply.status, reply.body]).toEqual([401, { detail: "Missing or invalid credential.", code: "unauthenticated" }]);
    const log = (await plane.system("GET", "/v1/admin/admin-log?action=login_failed&page_size=5")).body.entries;
    expect(log.map((entry: { after: { reason: string } }) => entry.after.reason)).toEqual([
      "tenant_unknown",
      "tenant_disabled",
      "inactive_user",
      "wrong_password",
      "unknown_user",
    ]);
    expect(JSON.stringify(log)).not.toContain("no-such-user");
  });
});

describe("guessing passwords", () => {
  test("is throttled for that account at that address only", async () => {
    await newUser("target", "viewer");
    for (let attempt = 0; attempt < 5; attempt++) expect((await plane.logIn("target", "guess", "acme", "6.6.6.6")).status).toBe(401);
    const slowed = await plane.logIn("target", ADMIN_PASSWORD, "acme", "6.6.6.6");
    expect([slowed.status, slowed.body.code]).toEqual([429, "too_many_logins"]);
    expect(Number(slowed.headers.get("retry-after"))).toBeGreaterThan(500);
    expect((await plane.logIn("target", ADMIN_PASSWORD, "acme", "7.7.7.7")).status).toBe(200);
    clock.advance(11 * 60_000);
    expect((await plane.logIn("target", ADMIN_PASSWORD, "acme", "6.6.6.6")).status).toBe(200);
  });

  test("concurrently allows no more attempts than one after another, and correct passwords are not throttled", async () => {
    await newUser("rushed", "viewer");
    const replies = await Promise.all(Array.from({ length: 15 }, () => plane.logIn("rushed", "guess", "acme", "8.8.8.8")));
    expect(replies.filter((reply) => reply.status === 401).length).toBe(5);
    const right = await Promise.all(Array.from({ length: 15 }, () => plane.logIn("rushed", ADMIN_PASSWORD, "acme", "9.9.9.9")));
    expect(right.every((reply) => reply.status === 200)).toBe(true);
  });
});

describe("an administrator's token", () => {
  test("ends when its user is deactivated, and reactivation does not revive it", async () => {
    const user = await newUser("leaver", "viewer");
    expect((await user.send("GET", "/v1/admin/llms")).status).toBe(200);
    await acme.send("PATCH", `/v1/admin/admin-users/${user.id}`, { is_active: false });
    expect((await user.send("GET", "/v1/admin/llms")).status).toBe(401);
    await acme.send("PATCH", `/v1/admin/admin-users/${user.id}`, { is_active: true });
    expect((await user.send("GET", "/v1/admin/llms")).status).toBe(401);
  });

  test("ends when the password changes, except the token issued by the change", async () => {
    const user = await newUser("changer", "viewer");
    const wrong = await user.send("POST", "/v1/admin-users/change-password", {
      current_password: "wrong",
      new_password: "another password",
    });
    expect([wrong.status, wrong.body.fields[0].field]).toEqual([400, "current_password"]);
    const changed = await user.send("POST", "/v1/admin-users/change-password", {
      current_password: ADMIN_PASSWORD,
      new_password: "another password",
    });
    expect(changed.status).toBe(200);
    expect((await user.send("GET", "/v1/admin-users/me")).status).toBe(401);
    expect((await plane.as(changed.body.access_token)("GET", "/v1/admin-users/me")).status).toBe(200);
    expect((await plane.logIn("changer", ADMIN_PASSWORD, "acme")).status).toBe(401);
    await acme.send("PATCH", `/v1/admin/admin-users/${user.id}`, { password: "set by the owner" });
    expect((await plane.as(changed.body.access_token)("GET", "/v1/admin-users/me")).status).toBe(401);
    expect((await plane.logIn("changer", "set by the owner", "acme")).status).toBe(200);
  });

  test("ends when its tenant is disabled or it expires, and loses the permissions of a changed role", async () => {
    const other = await newTenant(plane, "switched");
    await plane.system("PATCH", "/v1/admin/tenants/switched", { enabled: false });
    expect((await other.send("GET", "/v1/admin-users/me")).status).toBe(401);
    const user = await newUser("demoted", "developer");
    expect((await user.send("GET", "/v1/admin/admin-log")).status).toBe(403);
    await acme.send("PATCH", `/v1/admin/admin-users/${user.id}`, { role: "auditor" });
    expect((await user.send("GET", "/v1/admin/admin-log")).status).toBe(200);
    clock.advance(1_000_001_000);
    expect((await user.send("GET", "/v1/admin-users/me")).status).toBe(401);
    clock.advance(-1_000_001_000);
  });

  test("cannot be a portal token signed with the configured secret, nor an unsigned one", async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = {
      user_id: acme.admin.id,
      sub: acme.admin.id,
      tenant_id: "acme",
      user_type: "end_user",
      iss: "gatehouse",
      aud: "gw:admin",
      gen: 0,
      exp: Math.floor(clock.now() / 1000) + 3600,
    };
    for (const header of [
      { alg: "HS256", typ: "JWT" },
      { alg: "HS256", typ: "gw-admin+jwt" },
    ]) {
      const signed = `${part(header)}.${part(claims)}`;
      const token = `${signed}.${createHmac("sha256", "0123456789abcdef0123456789abcdef").update(signed).digest("base64url")}`;
      expect((await plane.as(token)("GET", "/v1/admin-users/me")).status).toBe(401);
    }
    const unsigned = `${part({ alg: "none", typ: "gw-admin+jwt" })}.${part(claims)}.`;
    expect((await plane.as(unsigned)("GET", "/v1/admin-users/me")).status).toBe(401);
  });
});

describe("administrators cannot", () => {
  test("deactivate themselves or the last active system administrator", async () => {
    const me = (await plane.system("GET", "/v1/admin-users/me")).body.id;
    expect((await plane.system("PATCH", `/v1/admin/admin-users/${me}`, { is_active: false })).body.code).toBe("own_account");
    expect((await plane.system("DELETE", `/v1/admin/admin-users/${me}`)).body.code).toBe("own_account");
    const second = await plane.system("POST", "/v1/admin/admin-users", {
      username: "second",
      password: ADMIN_PASSWORD,
      role: "system_admin",
    });
    expect([second.status, second.body.tenant_id]).toEqual([201, null]);
    const asSecond = plane.as((await plane.logIn("second", ADMIN_PASSWORD)).body.access_token);
    const both = await Promise.all([
      plane.system("PATCH", `/v1/admin/admin-users/${second.body.id}`, { is_active: false }),
      asSecond("PATCH", `/v1/admin/admin-users/${me}`, { is_active: false }),
    ]);
    expect(both.filter((reply) => reply.status === 200).length).toBe(1);
    const active = await plane.database.db
      .selectFrom("admin_users")
      .selectAll()
      .where("tenant_id", "is", null)
      .where("is_active", "=", true)
      .execute();
    expect(active.length).toBe(1);
  });

  test("give themselves or others more permissions than they have", async () => {
    const admin = await newUser("just-admin", "admin");
    const attempts = [
      await admin.send("POST", "/v1/admin/admin-users", { username: "up", password: ADMIN_PASSWORD, role: "owner" }),
      await admin.send("PATCH", `/v1/admin/admin-users/${acme.admin.id}`, { password: "taken over now" }),
      await admin.send("DELETE", `/v1/admin/admin-users/${acme.admin.id}`),
    ];
    expect(attempts.map((reply) => [reply.status, reply.body.code])).toEqual([
      [403, "forbidden"],
      [403, "forbidden"],
      [403, "forbidden"],
    ]);
    for (const send of [admin.send, acme.send]) {
      const made = await send("POST", "/v1/admin/admin-users", { username: "up", password: ADMIN_PASSWORD, role: "system_admin" });
      const raised = await send("PATCH", `/v1/admin/admin-users/${admin.id}`, { role: "system_admin" });
      expect([made, raised].map((reply) => [reply.status, reply.body.code])).toEqual([
        [403, "forbidden"],
        [403, "forbidden"],
      ]);
    }
    expect((await admin.send("PATCH", `/v1/admin/admin-users/${admin.id}`, { role: "owner" })).status).toBe(403);
    expect((await admin.send("POST", "/v1/admin/admin-users", { username: "plain", password: ADMIN_PASSWORD })).body.role).toBe("viewer");
  });
});

test("no password or token is stored in the database or logged", async () => {
  const everything = JSON.stringify([
    await plane.database.db.selectFrom("admin_users").selectAll().execute(),
    await plane.database.db.selectFrom("admin_log").selectAll().execute(),
    plane.lines,
  ]);
  for (const secret of [ADMIN_PASSWORD, "another password", "set by the owner", "taken over now", ...tokens])
    expect(everything).not.toContain(secret);
});
