import { afterAll, beforeAll, expect, test } from "bun:test";
import { sha256Hex } from "../../../server/kernel/secrets.ts";
import { readCredential } from "../../../server/store/credentials/credential-reads.ts";
import { pruneFormerValues } from "../../../server/store/credentials/former-key-values.ts";
import { controlPlane, movableClock, newTenant, type ControlPlane, type TenantWithAdmin } from "./admin-harness.ts";

const clock = movableClock();
let plane: ControlPlane;
let acme: TenantWithAdmin;
let groupId: string;

beforeAll(async () => {
  plane = await controlPlane({ clock, jwtExpirySeconds: 10_000_000 });
  acme = await newTenant(plane, "acme");
  groupId = (await acme.send("POST", "/v1/admin/resource-groups", { name: "team" })).body.id;
});
afterAll(() => plane.close());

const announced = async () =>
  new Set(
    (await plane.database.db.selectFrom("config_changes").select("ref").where("topic", "=", "api_key").execute()).map(
      (change) => change.ref,
    ),
  );

const announcements = async (ref: string) =>
  (await plane.database.db.selectFrom("config_changes").select("ref").where("ref", "=", ref).execute()).length;

test("an API key is shown once, and only its hash is stored", async () => {
  const made = await acme.send("POST", `/v1/admin/resource-groups/${groupId}/api-keys`, { name: "ci", access_mode: "shared" });
  expect(made.status).toBe(201);
  expect(made.body.key_value).toMatch(/^sk_gw_api_[A-Za-z0-9_-]{43}$/);
  expect([made.body.full_key, made.body.key]).toEqual([made.body.key_value, made.body.key_value]);
  expect(made.body).toMatchObject({ scope: "global", status: "active", resource_group_id: groupId });
  const read = await acme.send("GET", `/v1/admin/api-keys/${made.body.id}`);
  const log = await plane.system("GET", `/v1/admin/admin-log?resource_id=${made.body.id}`);
  const row = await plane.database.db.selectFrom("api_keys").selectAll().where("id", "=", made.body.id).executeTakeFirstOrThrow();
  expect(JSON.stringify([read.body, log.body, row])).not.toContain(made.body.key_value);
  expect(row.key_hash).toBe(sha256Hex(made.body.key_value));
  const twin = await acme.send("POST", `/v1/admin/resource-groups/${groupId}/api-keys`, { name: "ci" });
  expect([twin.status, twin.body.existing_id]).toEqual([409, made.body.id]);
});

test("a key that turned up somewhere is found by its value or its last characters, also after a rotation", async () => {
  const made = (await acme.send("POST", `/v1/admin/resource-groups/${groupId}/api-keys`, { name: "leaked" })).body;
  const found = async (text: string, path = "/v1/admin/api-keys") =>
    (await acme.send("GET", `${path}?search=${encodeURIComponent(text)}`)).body.api_keys.map(({ name }: { name: string }) => name);
  const value = made.key_value as string;
  expect(await found(value)).toEqual(["leaked"]);
  expect(await found(value, `/v1/admin/resource-groups/${groupId}/api-keys`)).toEqual(["leaked"]);
  expect(await found(value.slice(-4))).toContain("leaked");
  expect(await found(value.slice(0, -1))).toEqual([]);
  for (let n = 0; n < 2; n++) await acme.send("POST", `/v1/admin/api-keys/${made.id}/rotate`, { grace_seconds: 600 });
  expect(await found(value)).toEqual(["leaked"]);
  const other = await newTenant(plane, "stranger");
  expect((await other.send("GET", `/v1/admin/api-keys?search=${value}`)).body.total).toBe(0);
});

test("rotating an API key creates a new value and announces the change of both values", async () => {
  const made = (await acme.send("POST", `/v1/admin/resource-groups/${groupId}/api-keys`, { name: "rotating" })).body;
  const rotated = await acme.send("POST", `/v1/admin/api-keys/${made.id}/rotate`, { grace_seconds: 60 });
  expect(rotated.status).toBe(200);
  expect(rotated.body.id).toBe(made.id);
  expect(rotated.body.key_value).not.toBe(made.key_value);
  expect(new Date(rotated.body.previous_valid_until).getTime()).toBeGreaterThan(clock.now() + 55_000);
  const again = await acme.send("POST", `/v1/admin/api-keys/${made.id}/rotate`);
  expect([again.status, again.body.previous_valid_until]).toEqual([200, null]);
  const refs = await announced();
  for (const value of [made.key_value, rotated.body.key_value, again.body.key_value]) expect(refs.has(sha256Hex(value))).toBe(true);
});

test("each value of a repeatedly rotated API key is accepted until its own grace period ends", async () => {
  const made = (await acme.send("POST", `/v1/admin/resource-groups/${groupId}/api-keys`, { name: "rotating often" })).body;
  const values: string[] = [made.key_value];
  for (const grace_seconds of [300, 100, 200, 0]) {
    const rotated = await acme.send("POST", `/v1/admin/api-keys/${made.id}/rotate`, { grace_seconds });
    values.push(rotated.body.key_value);
  }
  const { db } = plane.database;
  const taken = async () =>
    Promise.all(
      values.map(async (value) => {
        const row = await readCredential(db, sha256Hex(value));
        if (row === null) return null;
        return row.id === made.id && (!row.is_previous || (row.previous_valid_until?.getTime() ?? 0) > clock.now());
      }),
    );
  expect(await taken()).toEqual([true, true, true, false, true]);
  clock.advance(101_000);
  expect(await taken()).toEqual([true, false, true, false, true]);
  clock.advance(100_000);
  expect(await taken()).toEqual([true, false, false, false, true]);
  for (let run = 0; run < 2; run++) await pruneFormerValues(db, new Date(clock.now()));
  expect(await taken()).toEqual([true, null, null, false, true]);
  const before = await announcements(sha256Hex(values[0] ?? ""));
  await acme.send("DELETE", `/v1/admin/api-keys/${made.id}`);
  expect(await announcements(sha256Hex(values[0] ?? ""))).toBe(before + 1);
  expect((await readCredential(db, sha256Hex(values[0] ?? "")))?.revoked_at).not.toBeNull();
});

test("a revoked API key stays revoked, and its name can be reused", async () => {
  const made = (await acme.send("POST", `/v1/admin/resource-groups/${groupId}/api-keys`, { name: "gone" })).body;
  const revoked = await acme.send("DELETE", `/v1/admin/api-keys/${made.id}`);
  expect([revoked.status, revoked.body.status]).toEqual([200, "revoked"]);
  clock.advance(5_000);
  expect((await acme.send("DELETE", `/v1/admin/api-keys/${made.id}`)).body.revoked_at).toBe(revoked.body.revoked_at);
  const rotate = await acme.send("POST", `/v1/admin/api-keys/${made.id}/rotate`, {});
  expect([rotate.status, rotate.body.code]).toEqual([409, "key_not_active"]);
  expect((await acme.send("POST", `/v1/admin/resource-groups/${groupId}/api-keys`, { name: "gone" })).status).toBe(201);
  expect((await acme.send("GET", `/v1/admin/api-keys?status=revoked&search=gone`)).body.total).toBe(1);
});

test("an API key expires, and its expiry can be extended", async () => {
  const expires_at = new Date(clock.now() + 3_000).toISOString();
  const made = (await acme.send("POST", `/v1/admin/resource-groups/${groupId}/api-keys`, { name: "short", expires_at })).body;
  expect(made.status).toBe("active");
  clock.advance(4_000);
  expect((await acme.send("GET", `/v1/admin/api-keys/${made.id}`)).body.status).toBe("expired");
  expect((await acme.send("GET", `/v1/admin/resource-groups/${groupId}/api-keys?status=expired`)).body.total).toBe(1);
  expect((await acme.send("PATCH", `/v1/admin/api-keys/${made.id}`, { expires_at: null, name: "long" })).body).toMatchObject({
    status: "active",
    name: "long",
  });
  const past = await acme.send("POST", `/v1/admin/resource-groups/${groupId}/api-keys`, { name: "late", expires_at });
  expect([past.status, past.body.fields[0].field]).toEqual([400, "expires_at"]);
});

test("an expired API key cannot be extended while an active key has its name", async () => {
  const keys = `/v1/admin/resource-groups/${groupId}/api-keys`;
  const old = (await acme.send("POST", keys, { name: "twice", expires_at: new Date(clock.now() + 3_000).toISOString() })).body;
  clock.advance(4_000);
  const young = (await acme.send("POST", keys, { name: "twice" })).body;
  const revived = await acme.send("PATCH", `/v1/admin/api-keys/${old.id}`, { expires_at: null });
  expect([revived.status, revived.body.existing_id]).toEqual([409, young.id]);
  expect((await acme.send("PATCH", `/v1/admin/api-keys/${old.id}`, { expires_at: null, name: "once" })).body).toMatchObject({
    status: "active",
    name: "once",
  });
});

test("an API key with user scope needs an end user of the tenant", async () => {
  const none = await acme.send("POST", `/v1/admin/resource-groups/${groupId}/api-keys`, { name: "u", scope: "user" });
  expect([none.status, none.body.fields[0].field]).toEqual([400, "end_user_id"]);
  const stranger = await acme.send("POST", `/v1/admin/resource-groups/${groupId}/api-keys`, {
    name: "u",
    scope: "user",
    end_user_id: crypto.randomUUID(),
  });
  expect([stranger.status, stranger.body.fields[0].field]).toEqual([400, "end_user_id"]);
});

test("an end user's API key is created and rotated only with permission to edit people, but revoked by key managers too", async () => {
  const { id } = (await acme.send("POST", "/v1/admin/end-users", { username: "keyed", password: "long enough" })).body.user;
  const path = `/v1/admin/resource-groups/${groupId}/api-keys`;
  const theirs = { scope: "user", end_user_id: id };
  const made = await acme.send("POST", path, { name: "of a person", ...theirs });
  expect(made.status).toBe(201);
  const one = `/v1/admin/api-keys/${made.body.id}`;
  const security = await newTenant(plane, "acme", "security");
  for (const [role, { send }] of [
    ["developer", await newTenant(plane, "acme", "developer")],
    ["security", security],
  ] as const) {
    const refused = [await send("POST", path, { name: `${role} of a person`, ...theirs }), await send("POST", `${one}/rotate`, {})];
    expect(refused.map(({ status, body }) => [status, body.key])).toEqual([
      [403, undefined],
      [403, undefined],
    ]);
    const own = await send("POST", path, { name: `of ${role}` });
    expect([own.status, (await send("POST", `/v1/admin/api-keys/${own.body.id}/rotate`, {})).status]).toEqual([201, 200]);
  }
  expect((await acme.send("POST", `${one}/rotate`, {})).status).toBe(200);
  expect((await security.send("DELETE", one)).status).toBe(200);
});

test("concurrent creates of API keys with one name create one key", async () => {
  const replies = await Promise.all(
    Array.from({ length: 6 }, () => acme.send("POST", `/v1/admin/resource-groups/${groupId}/api-keys`, { name: "raced" })),
  );
  expect(replies.map((reply) => reply.status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
});

test("a group with an active API key cannot be deleted; with revoked keys it can, and the keys stay on record", async () => {
  const group = (await acme.send("POST", "/v1/admin/resource-groups", { name: "leaving" })).body.id;
  const key = (await acme.send("POST", `/v1/admin/resource-groups/${group}/api-keys`, { name: "k" })).body.id;
  const refused = await acme.send("DELETE", `/v1/admin/resource-groups/${group}`);
  expect([refused.status, refused.body.code]).toEqual([409, "in_use"]);
  expect(refused.body.detail).toContain("1 active API key");
  await acme.send("DELETE", `/v1/admin/api-keys/${key}`);
  expect((await acme.send("DELETE", `/v1/admin/resource-groups/${group}`)).status).toBe(204);
  expect((await acme.send("GET", `/v1/admin/api-keys/${key}`)).body).toMatchObject({ status: "revoked", resource_group_id: null });
});

test("allowed_skill_ids of an API key accepts only skills of its tenant, and keeps one deleted since", async () => {
  const others = await newTenant(plane, "others");
  const skillOf = async ({ send }: TenantWithAdmin) => {
    const content = "---\nname: one\ndescription: d\n---\n";
    return (await send("POST", "/v1/admin/agent-skills/import", { files: [{ path: "SKILL.md", content }] })).body.skill.id as string;
  };
  const [mine, theirs] = [await skillOf(acme), await skillOf(others)];
  const path = `/v1/admin/resource-groups/${groupId}/api-keys`;
  const made = await acme.send("POST", path, { name: "skilled", allowed_skill_ids: [mine] });
  expect([made.status, made.body.allowed_skill_ids]).toEqual([201, [mine]]);
  const one = `/v1/admin/api-keys/${made.body.id}`;
  for (const strange of [theirs, "skill-01ARZ3NDEKTSV4RRFFQ69G5FAV"])
    for (const [method, at] of [
      ["POST", path],
      ["PATCH", one],
    ] as const) {
      const refused = await acme.send(method, at, { name: "strange", allowed_skill_ids: [mine, strange] });
      const message = `names no skill of this tenant: ${strange}`;
      expect([refused.status, refused.body.fields]).toEqual([400, [{ field: "allowed_skill_ids", message }]]);
    }
  expect((await acme.send("DELETE", `/v1/admin/agent-skills/${mine}`)).status).toBe(204);
  expect((await acme.send("PATCH", one, (await acme.send("GET", one)).body)).status).toBe(200);
  expect((await acme.send("PATCH", one, { allowed_skill_ids: [mine], name: "renamed" })).status).toBe(200);
});
