import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { rowOf, rowsOf } from "../../support/worlds/admin.ts";
import { png, pngChunk } from "../../support/formats/pictures.ts";
import { logIn, newPerson, PASSWORD, portalClient } from "../../support/worlds/portal.ts";
import { type PortalWorld, startPortalWorld } from "../../support/worlds/portal-world.ts";
import { totpCode } from "../../support/identity/totp.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Portal accounts: registration, sign-in, second factors, and the profile. */
let world: PortalWorld["world"];
let url: PortalWorld["url"];
let served: PortalWorld["served"];
let chat: PortalWorld["chat"];

beforeAll(async () => {
  ({ world, url, served, chat } = await startPortalWorld());
});
afterAll(() => world.end());

const stranger = () => portalClient(url);
/** The authenticator's code, `ahead` time steps from now. */
const codeOf = (secret: string, ahead = 0) => totpCode(secret, Math.floor(Date.now() / 30_000) + ahead);

const part = (token: string, index: number) => JSON.parse(Buffer.from(token.split(".")[index] ?? "", "base64url").toString());
const decodeProtectedHeader = (token: string) => part(token, 0);
const decodeJwt = (token: string) => part(token, 1);

describe("a new user", () => {
  test("registers, signs in, is added to a group, picks a model, chats and rates the answer", async () => {
    const made = await stranger().request("POST", "/auth/register", {
      username: "ada",
      password: PASSWORD,
      email: "ada@example.com",
      display_name: "Ada",
    });
    expect([made.status, Object.keys(made.body).sort()]).toEqual([201, ["created_at", "display_name", "email", "id", "username"]]);

    const login = await stranger().request("POST", "/auth/login", { username: "ADA", password: PASSWORD });
    expect(login).toMatchObject({
      status: 200,
      body: {
        token_type: "bearer",
        expires_in: 3600,
        user: { id: made.body.id, username: "ada", email: "ada@example.com", display_name: "Ada", is_verified: false, metadata: {} },
      },
    });
    const claims = decodeJwt(login.body.access_token);
    expect(decodeProtectedHeader(login.body.access_token).alg).toBe("HS256");
    expect(Object.keys(claims).sort()).toEqual(["email", "exp", "iat", "jti", "tenant_id", "user_id", "user_type", "username"]);
    expect(claims).toMatchObject({
      user_id: made.body.id,
      tenant_id: "default",
      email: "ada@example.com",
      username: "ada",
      user_type: "end_user",
    });

    const ada = portalClient(url, login.body.access_token);
    expect(await ada.request("GET", "/auth/groups")).toMatchObject({ status: 200, body: { groups: [], primary_group_id: null } });
    expect((await ada.request("GET", "/models")).body).toEqual({ models: [], total: 0 });
    const outside = await chat(login.body.access_token);
    expect([outside.status, ((await outside.json()) as any).code]).toEqual([403, "no_resource_group"]);

    await world.admin.post("/v1/admin/end-user-groups", { name: "writers", initial_member_ids: [made.body.id] });
    const group = (await world.admin.get("/v1/admin/end-user-groups?search=writers")).end_user_groups[0];
    await world.admin.post(`/v1/admin/end-user-groups/${group.id}/resource-groups`, { resource_group_ids: [served.groupId] });
    expect((await ada.request("GET", "/auth/groups")).body).toEqual({
      groups: [{ id: served.groupId, name: "team", display_name: null, description: null, is_primary: false }],
      primary_group_id: null,
    });

    const models = await ada.request("GET", "/models");
    expect(models.body.total).toBe(1);
    expect(models.body.models[0]).toMatchObject({
      id: served.models["fake-1"],
      model_id: "fake-1",
      name: "fake-1",
      provider: "fake",
      enabled: true,
      is_healthy: null,
      modes: ["chat"],
      input_cost_per_million_tokens: null,
    });

    const answer = await chat(
      login.body.access_token,
      {},
      { "x-gw-run-id": "essay 1", "x-gw-conversation-handle": "01JABCDEFGHJKMNPQRSTVWXYZ0" },
    );
    expect([answer.status, answer.headers.get("x-gw-ai-generated"), answer.headers.get("x-gw-run-id")]).toEqual([200, "true", "essay 1"]);
    const row = await rowOf(world.admin, { correlation_id: answer.headers.get("x-correlation-id") });
    expect(row).toMatchObject({
      proxy_type: "llm",
      tenant_id: "default",
      api_key_id: null,
      api_key_name: null,
      gateway_user_id: made.body.id,
      gateway_user_username: "ada",
      subject_kind: "user",
      subject_id: made.body.id,
      trace_root_kind: "llm_user",
      resource_group_id: served.groupId,
      custom_metadata: { conversation_handle: "01JABCDEFGHJKMNPQRSTVWXYZ0" },
    });

    expect((await ada.request("POST", "/runs/essay%201/feedback", { score: 1, comment: "good" })).body).toEqual({
      run_id: "essay 1",
      score: 1,
    });
    expect((await ada.request("POST", "/runs/essay%201/feedback", { score: 0 })).body).toEqual({ run_id: "essay 1", score: null });
    const [rated] = await rowsOf(world.admin, { gateway_user_id: made.body.id, proxy_subtype: "run_feedback" }, 2);
    expect(rated.endpoint).toBe(`/v1/portal/runs/${row.root_task_id}/feedback`);
    const run = (token: string | null) => fetch(`${url}/v1/runs/essay%201`, { headers: { authorization: `Bearer ${token}` } });
    expect(await (await run(ada.token)).json()).toMatchObject({ run_id: "essay 1", calls: 1 });
    const bob = await newPerson(url, "bob");
    await world.admin.request("PATCH", `/v1/admin/end-users/${bob.id}/primary-group`, { group_id: served.groupId });
    expect((await run(bob.token)).status).toBe(404);
    const traces = await fetch(`${url}/v1/ingest/otel/v1/traces`, {
      method: "POST",
      headers: { authorization: `Bearer ${ada.token}`, "content-type": "application/json" },
      body: "{}",
    });
    expect([traces.status, (await rowOf(world.admin, { correlation_id: traces.headers.get("x-correlation-id") })).error_type]).toEqual([
      401,
      "credential_of_wrong_kind",
    ]);
    expect((await bob.request("POST", "/runs/essay%201/feedback", { score: -1 })).status).toBe(404);
    expect((await ada.request("POST", "/runs/essay%201/feedback", { score: 2 })).body.fields).toEqual([
      { field: "score", message: "must be 1, -1 or 0" },
    ]);
  });

  test("chats with the official client, with a token in either header", async () => {
    const eve = await newPerson(url, "eve");
    await world.admin.request("PATCH", `/v1/admin/end-users/${eve.id}/primary-group`, { group_id: served.groupId });
    const client = new OpenAI({ apiKey: eve.token as string, baseURL: `${url}/v1/proxy/llm` });
    expect((await client.chat.completions.create({ model: "fake-1", messages: [{ role: "user", content: "x" }] })).object).toBe(
      "chat.completion",
    );
    const both = await fetch(`${url}/v1/proxy/llm/models`, {
      headers: { "x-gateway-authorization": `Bearer ${eve.token}`, authorization: "Bearer of-somebody-else" },
    });
    expect(((await both.json()) as any).data.map((model: { id: string }) => model.id)).toEqual(["fake-1", "hidden-1"]);
  });

  test("cannot register where registration is closed, with a taken or look-alike name, or with invalid fields", async () => {
    await world.admin.post("/v1/admin/tenants", { id: "shut", name: "shut", portal_registration: "closed" });
    const shut = await stranger().request("POST", "/auth/register", { username: "x", password: PASSWORD }, { "x-tenant-id": "shut" });
    const nowhere = await stranger().request("POST", "/auth/register", { username: "x", password: PASSWORD }, { "x-tenant-id": "nowhere" });
    expect([shut.status, shut.body]).toEqual([403, nowhere.body]);
    expect(nowhere.body.code).toBe("registration_closed");
    await newPerson(url, "taken");
    expect(await stranger().request("POST", "/auth/register", { username: "Taken", password: PASSWORD })).toMatchObject({
      status: 409,
      body: { error: "This username is taken.", code: "conflict" },
    });
    // Each of these renders as an existing name.
    for (const unseen of ["\u200b", "\ufe0f", "\u034f", "\u{e0100}", "\u3164", "\u00a0x"]) {
      const twin = await stranger().request("POST", "/auth/register", { username: `taken${unseen}`, password: PASSWORD });
      expect([unseen, twin.status, twin.body.fields?.[0].field]).toEqual([unseen, 400, "username"]);
    }
    const bad = await stranger().request("POST", "/auth/register", {
      username: "",
      password: "short",
      email: "no",
      photo_mime_type: "image/svg+xml",
      x: 1,
    });
    expect([bad.status, bad.body.fields.map(({ field }: { field: string }) => field).sort()]).toEqual([
      400,
      ["email", "password", "photo_mime_type", "username", "x"],
    ]);
  });
});

test("a user name in NFC and NFD is the same person for registration, login and throttling", async () => {
  const [name, apart] = ["jörg-ångström", "jo\u0308rg-a\u030angstro\u0308m"];
  const made = await stranger().request("POST", "/auth/register", { username: apart, password: PASSWORD });
  expect([made.status, made.body.username]).toEqual([201, name]);
  expect((await stranger().request("POST", "/auth/register", { username: name, password: PASSWORD })).status).toBe(409);
  const full = "ü".repeat(100);
  await newPerson(url, full);
  for (const way of [name, apart, full, full.normalize("NFD")]) expect((await logIn(url, way)).token).toBeString();
  for (let guess = 0; guess < 5; guess++)
    expect((await stranger().request("POST", "/auth/login", { username: guess % 2 === 0 ? name : apart, password: "wrong" })).status).toBe(
      401,
    );
  for (const way of [name, apart])
    expect((await stranger().request("POST", "/auth/login", { username: way, password: PASSWORD })).status).toBe(429);
});

test("a password in NFC and NFD is the same, up to the greatest length", async () => {
  const password = "\uac01".repeat(200);
  expect((await stranger().request("POST", "/auth/register", { username: "typist", password: password.normalize("NFD") })).status).toBe(
    201,
  );
  const typed = [password, password.normalize("NFD"), password.slice(1)];
  const logins = await Promise.all(typed.map((text) => stranger().request("POST", "/auth/login", { username: "typist", password: text })));
  expect(logins.map(({ status }) => status)).toEqual([200, 200, 401]);
  const { token } = portalClient(url, logins[0]?.body.access_token);
  expect(
    (
      await portalClient(url, token).request("POST", "/auth/change-password", {
        current_password: password.normalize("NFD"),
        new_password: password.slice(1).normalize("NFD"),
      })
    ).status,
  ).toBe(200);
  expect((await stranger().request("POST", "/auth/login", { username: "typist", password: password.slice(1) })).status).toBe(200);
  expect(
    (await stranger().request("POST", "/auth/register", { username: "another", password: "\u00e9\u00e9\u00e9\u00e9".normalize("NFD") }))
      .body.fields,
  ).toEqual([{ field: "password", message: "must be at least 8 characters" }]);
});

describe("too many registrations", () => {
  let other: World;
  beforeAll(async () => {
    other = await startWorld();
  });
  afterAll(() => other.end());

  test("close registration to their address for a while, but not login", async () => {
    await other.admin.post("/v1/admin/tenants", { id: "shut", name: "shut", portal_registration: "closed" });
    await newPerson(other.gateway.runtimeUrl, "early");
    const register = (username: string, headers = {}) =>
      portalClient(other.gateway.runtimeUrl).request("POST", "/auth/register", { username, password: PASSWORD }, headers);
    // Every attempt counts, whatever its outcome; a closed tenant answers fastest.
    for (let tries = 1; tries < 60; tries++) expect((await register("x", { "x-tenant-id": "shut" })).status).toBe(403);
    const refused = await register("one-too-many");
    const wait = Number(refused.headers.get("retry-after"));
    expect([refused.status, refused.body.code, wait > 0 && wait <= 600]).toEqual([429, "too_many_registrations", true]);
    expect((await other.admin.get("/v1/admin/end-users?search=one-too-many")).total).toBe(0);
    expect((await rowOf(other.admin, { correlation_id: refused.headers.get("x-correlation-id") })).http_status_code).toBe(429);
    expect((await logIn(other.gateway.runtimeUrl, "early")).token).not.toBeNull();
  });
});

describe("login", () => {
  test("of an unknown user, with a wrong password, or in an unknown or disabled tenant gets the same 401", async () => {
    await newPerson(url, "known");
    await world.admin.post("/v1/admin/tenants", { id: "off", name: "off" });
    await world.admin.post("/v1/admin/end-users", { tenant_id: "off", username: "known", password: PASSWORD });
    await world.admin.request("PATCH", "/v1/admin/tenants/off", { enabled: false });
    for (const [body, headers, reason] of [
      [{ username: "nobody", password: PASSWORD }, {}, "unknown_user"],
      [{ username: "known", password: "wrong" }, {}, "wrong_password"],
      [{ username: "known", password: PASSWORD }, { "x-tenant-id": "nowhere" }, "tenant_unknown"],
      [{ username: "known", password: PASSWORD }, { "x-tenant-id": "off" }, "tenant_disabled"],
    ] as const) {
      const reply = await stranger().request("POST", "/auth/login", body, headers as Record<string, string>);
      expect([reply.status, reply.body, reply.headers.get("www-authenticate")]).toEqual([
        401,
        { error: "Missing or invalid credential.", code: "unauthenticated" },
        "Bearer",
      ]);
      const row = await rowOf(world.admin, { correlation_id: reply.headers.get("x-correlation-id") });
      expect(row).toMatchObject({
        proxy_type: "portal",
        proxy_subtype: "login",
        is_auth_event: true,
        error_type: reason,
        request_body_preview: null,
        response_body_preview: null,
        request_content_hash: null,
      });
    }
  });

  test("gets 429 with a retry-after after too many failures", async () => {
    await newPerson(url, "target");
    const statuses = [];
    for (let i = 0; i < 7; i++)
      statuses.push((await stranger().request("POST", "/auth/login", { username: "target", password: `guess ${i}` })).status);
    expect(statuses.slice(-2)).toEqual([429, 429]);
    const blocked = await stranger().request("POST", "/auth/login", { username: "target", password: PASSWORD });
    expect([blocked.status, blocked.body.code, Number(blocked.headers.get("retry-after")) > 0]).toEqual([429, "too_many_logins", true]);
  });

  test("of an inactive user with the right password or token gets 403, and so does a key of theirs", async () => {
    const away = await newPerson(url, "away");
    await world.admin.request("PATCH", `/v1/admin/end-users/${away.id}/primary-group`, { group_id: served.groupId });
    const key = (
      await world.admin.post(`/v1/admin/resource-groups/${served.groupId}/api-keys`, {
        name: "away's",
        scope: "user",
        end_user_id: away.id,
      })
    ).key_value;
    expect((await chat(key)).status).toBe(200);
    await world.admin.request("PATCH", `/v1/admin/end-users/${away.id}/status`, { is_active: false });
    for (const credential of [away.token as string, key]) {
      const reply = await chat(credential);
      expect([reply.status, ((await reply.json()) as any).code]).toEqual([403, "inactive_user"]);
    }
    expect(await stranger().request("POST", "/auth/login", { username: "away", password: PASSWORD })).toMatchObject({
      status: 403,
      body: { code: "inactive_user" },
    });
    expect((await stranger().request("POST", "/auth/login", { username: "away", password: "wrong" })).status).toBe(401);
    await world.admin.request("PATCH", `/v1/admin/end-users/${away.id}/status`, { is_active: true });
    expect((await away.request("GET", "/auth/profile")).status).toBe(401);
    expect((await logIn(url, "away")).token).toBeString();
    await world.admin.request("DELETE", `/v1/admin/end-users/${away.id}`);
    expect([(await chat(key)).status, (await chat(away.token as string)).status]).toEqual([401, 401]);
  });

  test("with a changed password needs a new token: every older one is refused", async () => {
    const mover = await newPerson(url, "mover");
    const other = await logIn(url, "mover");
    const wrong = await mover.request("POST", "/auth/change-password", { current_password: "wrong", new_password: "another long one" });
    expect([wrong.status, wrong.body.fields]).toEqual([400, [{ field: "current_password", message: "is wrong" }]]);
    const changed = await mover.request("POST", "/auth/change-password", { current_password: PASSWORD, new_password: "another long one" });
    expect(changed.status).toBe(200);
    for (const old of [mover, other]) expect((await old.request("POST", "/auth/validate")).status).toBe(401);
    expect((await portalClient(url, changed.body.access_token).request("POST", "/auth/validate")).body).toMatchObject({
      valid: true,
      user: { username: "mover" },
    });
    expect((await stranger().request("POST", "/auth/login", { username: "mover", password: PASSWORD })).status).toBe(401);
    expect((await logIn(url, "mover", "another long one")).token).toBeString();
  });

  test("with a token of another secret, without signature, of an administrator or expired is refused", async () => {
    const someone = await newPerson(url, "someone");
    const [head = "", payload = "", signature = ""] = (someone.token as string).split(".");
    const none = Buffer.from(JSON.stringify({ alg: "none", typ: "JWT" })).toString("base64url");
    const swapped = Buffer.from(JSON.stringify({ ...decodeJwt(someone.token as string), user_id: crypto.randomUUID() })).toString(
      "base64url",
    );
    for (const token of [
      `${none}.${payload}.`,
      `${none}.${payload}.${signature}`,
      `${head}.${swapped}.${signature}`,
      world.admin.token,
      served.apiKey,
    ]) {
      expect((await portalClient(url, token).request("GET", "/auth/profile")).status).toBe(401);
    }
    expect((await world.admin.request("GET", "/v1/admin/end-users")).status).toBe(200);
    expect(
      (await fetch(`${world.gateway.adminUrl}/v1/admin/end-users`, { headers: { authorization: `Bearer ${someone.token}` } })).status,
    ).toBe(401);
    expect((await someone.request("GET", "/auth/profile", undefined, { "x-tenant-id": "shut" })).status).toBe(401);
    expect((await someone.request("POST", "/auth/logout")).status).toBe(200);
  });
});

describe("two-factor login", () => {
  test("is set up, used with codes and backup codes, and switched off; each code is valid once", async () => {
    const user = await newPerson(url, "careful");
    expect((await user.request("GET", "/auth/2fa/status")).body).toEqual({ enabled: false, pending: false, backup_codes_remaining: 0 });
    const { body: setup } = await user.request("POST", "/auth/2fa/setup");
    expect([setup.backup_codes.length, new Set(setup.backup_codes).size, new URL(setup.otpauth_url).protocol]).toEqual([
      10,
      10,
      "otpauth:",
    ]);
    expect((await logIn(url, "careful")).token).toBeString();
    expect((await user.request("POST", "/auth/2fa/verify", { code: "000000" })).body.fields[0].field).toBe("code");
    const first = codeOf(setup.secret, -1);
    expect((await user.request("POST", "/auth/2fa/verify", { code: first })).status).toBe(200);
    expect((await user.request("POST", "/auth/2fa/setup")).status).toBe(409);

    const begin = async () => (await stranger().request("POST", "/auth/login", { username: "careful", password: PASSWORD })).body;
    const owed = await begin();
    expect(owed).toEqual({ requires_2fa: true, temp_token: expect.any(String), user: { id: user.id, username: "careful" } });
    expect((await portalClient(url, owed.temp_token).request("GET", "/auth/profile")).status).toBe(401);
    const withCode = (code: string) => stranger().request("POST", "/auth/login/2fa", { temp_token: owed.temp_token, code });
    expect((await withCode(first)).status).toBe(401);
    const now = codeOf(setup.secret, 0);
    const both = await Promise.all([withCode(now), withCode(now)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect((await withCode(now)).status).toBe(401);

    const [code] = setup.backup_codes;
    expect((await withCode(code)).status).toBe(200);
    expect((await withCode(code)).status).toBe(401);
    expect((await withCode(setup.backup_codes[1].toUpperCase().replaceAll("-", " "))).body).toMatchObject({
      token_type: "bearer",
      user: { username: "careful" },
    });
    expect((await user.request("GET", "/auth/2fa/status")).body).toEqual({ enabled: true, pending: false, backup_codes_remaining: 8 });

    const stored = [];
    for (const proxy_subtype of ["2fa_setup", "login_2fa"])
      stored.push(await rowOf(world.admin, { gateway_user_id: user.id, proxy_subtype }));
    expect(JSON.stringify(stored)).not.toContain(setup.secret);
    expect((await user.request("POST", "/auth/2fa/disable", {})).status).toBe(400);
    expect((await user.request("POST", "/auth/2fa/disable", { code: "000000" })).status).toBe(400);
    expect((await user.request("POST", "/auth/2fa/disable", { password: PASSWORD })).body).toEqual({ success: true, enabled: false });
    expect((await logIn(url, "careful")).token).toBeString();
  });

  test("with a temporary token fails after a password change, and an administrator can reset it", async () => {
    const user = await newPerson(url, "loser");
    const { body: setup } = await user.request("POST", "/auth/2fa/setup");
    await user.request("POST", "/auth/2fa/verify", { code: codeOf(setup.secret) });
    const owed = (await stranger().request("POST", "/auth/login", { username: "loser", password: PASSWORD })).body;
    await user.request("POST", "/auth/change-password", { current_password: PASSWORD, new_password: `${PASSWORD} 2` });
    expect((await stranger().request("POST", "/auth/login/2fa", { temp_token: owed.temp_token, code: setup.backup_codes[3] })).status).toBe(
      401,
    );
    await world.admin.post(`/v1/admin/end-users/${user.id}/2fa/reset`, {});
    expect((await logIn(url, "loser", `${PASSWORD} 2`)).token).toBeString();
  });
});

describe("a user's own record", () => {
  const PNG = png();
  /** The same picture with metadata about its location, and a page appended to it. */
  const TELLING = png({ around: pngChunk("tEXt", "Comment\0at home"), after: "<script>alert(1)</script>" });
  const form = (content: Uint8Array, type: string) => {
    const data = new FormData();
    data.set("file", new File([content as Uint8Array<ArrayBuffer>], "me", { type }));
    return data;
  };

  test("is read and changed, in its writable fields only", async () => {
    const user = await newPerson(url, "vera");
    const before = await user.request("GET", "/auth/profile");
    expect(Object.keys(before.body).sort()).toEqual([
      "avatar_url",
      "created_at",
      "display_name",
      "email",
      "has_password",
      "id",
      "is_verified",
      "last_login",
      "metadata",
      "primary_group_id",
      "totp_enabled",
      "username",
    ]);
    const after = await user.request("PATCH", "/auth/profile", { display_name: "Vera", metadata: { theme: "dark" } });
    expect(after.body).toMatchObject({ display_name: "Vera", metadata: { theme: "dark" }, email: null, has_password: true });
    for (const wrong of [{ is_verified: true }, { username: "other" }, { email: "no" }, { metadata: { x: "y".repeat(20_000) } }])
      expect((await user.request("PATCH", "/auth/profile", wrong)).status).toBe(400);
  });

  test("has a photo, which is re-encoded and served so that nothing in it runs; other files are refused", async () => {
    const user = await newPerson(url, "pia");
    const set = await user.request("POST", "/auth/profile/photo", form(TELLING, "text/html"));
    expect(set.body).toEqual({ success: true, avatar_url: expect.stringMatching(/^\/v1\/portal\/photos\/[\w-]{32}$/) });
    const photo = await fetch(url + set.body.avatar_url);
    expect(Buffer.from(await photo.arrayBuffer())).toEqual(PNG);
    expect([
      photo.headers.get("content-type"),
      photo.headers.get("x-content-type-options"),
      photo.headers.get("content-security-policy"),
    ]).toEqual(["image/png", "nosniff", "default-src 'none'; sandbox"]);
    expect((await user.request("GET", "/auth/profile")).body.avatar_url).toBe(set.body.avatar_url);
    const shown = await fetch(world.gateway.adminUrl + set.body.avatar_url);
    expect([shown.headers.get("content-type"), Buffer.from(await shown.arrayBuffer())]).toEqual(["image/png", PNG]);
    const damaged = await user.request("POST", "/auth/profile/photo", form(PNG.subarray(0, -1), "image/png"));
    expect([damaged.status, damaged.body.fields]).toEqual([400, [{ field: "file", message: "is a damaged PNG image" }]]);
    for (const bad of [
      form(Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"), "image/svg+xml"),
      form(Buffer.from("<script>"), "image/png"),
      {},
    ])
      expect((await user.request("POST", "/auth/profile/photo", bad)).status).toBe(400);
    expect(
      (await user.request("POST", "/auth/profile/photo", form(Buffer.concat([PNG, Buffer.alloc(5 * 1024 * 1024)]), "image/png"))).status,
    ).toBe(413);
    const again = await user.request("POST", "/auth/profile/photo", form(PNG, "image/png"));
    expect([(await fetch(url + set.body.avatar_url)).status, (await fetch(url + again.body.avatar_url)).status]).toEqual([404, 200]);
    const registered = await stranger().request("POST", "/auth/register", {
      username: "with-photo",
      password: PASSWORD,
      photo_base64: TELLING.toString("base64").replace(/.{76}/g, "$&\r\n"),
      photo_mime_type: "image/png",
    });
    expect(registered.status).toBe(201);
    const { avatar_url: avatar } = (await (await logIn(url, "with-photo")).request("GET", "/auth/profile")).body;
    expect(Buffer.from(await (await fetch(url + avatar)).arrayBuffer())).toEqual(PNG);
    const bare = { username: "without-photo", password: PASSWORD, photo_base64: null, photo_mime_type: null };
    expect((await stranger().request("POST", "/auth/register", bare)).status).toBe(201);
    const half = await stranger().request("POST", "/auth/register", {
      username: "half-a-photo",
      password: PASSWORD,
      photo_base64: PNG.subarray(0, 40).toString("base64"),
    });
    expect([half.status, half.body.fields]).toEqual([400, [{ field: "photo_base64", message: "is a damaged PNG image" }]]);
    const blank = await stranger().request("POST", "/auth/register", {
      username: "much-white-space",
      password: PASSWORD,
      photo_base64: `A${" ".repeat(1_000_000)}!`,
    });
    expect([blank.status, blank.body.fields]).toEqual([400, [{ field: "photo_base64", message: "is no base64" }]]);
  });
});
