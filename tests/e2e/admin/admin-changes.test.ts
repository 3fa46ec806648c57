import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "kysely";
import { sealContext } from "../../../server/kernel/secrets.ts";
import { until } from "../../support/until.ts";
import { ADMIN_PASSWORD, controlPlane, newTenant, type ControlPlane, type Send } from "./admin-harness.ts";

let plane: ControlPlane;
let owner: Send;
let groups: string[] = [];

beforeAll(async () => {
  plane = await controlPlane();
  owner = (await newTenant(plane, "acme")).send;
  groups = await Promise.all(
    ["a", "b"].map(async (name) => (await owner("POST", "/v1/admin/resource-groups", { name })).body.id as string),
  );
  groups.sort();
  await owner("POST", "/v1/admin/providers", { provider_key: "p", api_format: "echo" });
});
afterAll(() => plane.close());

describe("PATCH accepts what POST accepts", () => {
  test("group_ids of a model replace the groups it is granted to", async () => {
    const { body: model } = await owner("POST", "/v1/admin/llms", { name: "granted", provider: "p", group_ids: [groups[0]] });
    const patch = async (groupIds: unknown) => owner("PATCH", `/v1/admin/llms/${model.id}`, { group_ids: groupIds });
    const granted = async (group = "") =>
      (await owner("GET", `/v1/admin/resource-groups/${group}/llm-models`)).body.llm_models.map(({ id }: { id: string }) => id);
    await owner("PATCH", `/v1/admin/resource-groups/${groups[0]}/llm-models/granted/portal-visibility`, { portal_visible: false });
    expect((await patch(groups)).body.group_ids).toEqual(groups);
    expect((await owner("GET", `/v1/admin/resource-groups/${groups[0]}/llm-models`)).body.llm_models[0].portal_visible).toBe(false);
    expect(await granted(groups[1])).toEqual([model.id]);
    expect((await patch([groups[1]])).body.group_ids).toEqual([groups[1]]);
    expect(await granted(groups[0])).toEqual([]);
    const unknown = await patch([crypto.randomUUID()]);
    expect([unknown.status, unknown.body.fields[0].field]).toEqual([400, "group_ids"]);
    expect((await patch([])).body.group_ids).toEqual([]);
  });

  test("an end user's primary group, avatar URL and is_active; deactivation ends sessions once", async () => {
    const { user } = (await owner("POST", "/v1/admin/end-users", { username: "moved", password: "long enough" })).body;
    const patch = (body: object) => owner("PATCH", `/v1/admin/end-users/${user.id}`, body);
    expect((await patch({ primary_group_id: groups[0] })).body.primary_group_id).toBe(groups[0]);
    const unknown = await patch({ primary_group_id: crypto.randomUUID() });
    expect([unknown.status, unknown.body.fields[0].field]).toEqual([400, "primary_group_id"]);
    expect((await patch({ primary_group_id: null })).body.primary_group_id).toBeNull();
    expect((await patch({ avatar_url: "https://pictures.example/me.png" })).body.avatar_url).toBe("https://pictures.example/me.png");
    const row = () =>
      plane.database.db.selectFrom("end_users").select("tokens_valid_from").where("id", "=", user.id).executeTakeFirstOrThrow();
    const before = await row();
    expect((await patch({ is_active: false })).body.is_active).toBe(false);
    const ended = await row();
    expect(ended.tokens_valid_from > before.tokens_valid_from).toBe(true);
    await owner("PATCH", `/v1/admin/end-users/${user.id}/status`, { is_active: false });
    expect(await row()).toEqual(ended);
  });

  test("initial_member_ids of an end-user group replace its members", async () => {
    const people = await Promise.all(
      ["first", "second"].map(
        async (username) => (await owner("POST", "/v1/admin/end-users", { username, password: "long enough" })).body.user.id as string,
      ),
    );
    const { body: made } = await owner("POST", "/v1/admin/end-user-groups", { name: "team", initial_member_ids: [people[0]] });
    const members = async () =>
      (await owner("GET", `/v1/admin/end-user-groups/${made.id}/members`)).body.members.map(({ id }: { id: string }) => id);
    const patched = await owner("PATCH", `/v1/admin/end-user-groups/${made.id}`, { initial_member_ids: [people[1]] });
    expect([patched.status, patched.body.member_count, await members()]).toEqual([200, 1, [people[1]]]);
    const same = await owner("PATCH", `/v1/admin/end-user-groups/${made.id}`, { initial_member_ids: [people[1]] });
    expect(same.body).toEqual(patched.body);
  });
});

test("a virtual server reads back its members as IDs and with slugs, accepts both, and keeps the slugs", async () => {
  const servers = await Promise.all(
    ["one", "two"].map(
      async (name) => (await owner("POST", "/v1/admin/mcp-servers", { name, base_url: `http://${name}.example` })).body.id,
    ),
  );
  const { body: made } = await owner("POST", "/v1/admin/virtual-servers", { name: "both", mcp_server_ids: servers });
  const path = `/v1/admin/virtual-servers/${made.id}`;
  const members = servers.map((mcp_server_id, n) => ({ mcp_server_id, slug: ["one", "two"][n] }));
  expect(made).toMatchObject({ mcp_server_ids: servers, members });
  await owner("PATCH", `/v1/admin/mcp-servers/${servers[0]}`, { name: "renamed" });
  expect((await owner("PATCH", path, { mcp_server_ids: servers })).body).toEqual(made);
  expect((await owner("PATCH", path, { ...made, mcp_server_ids: [servers[1]] })).body).toMatchObject({
    mcp_server_ids: [servers[1]],
    members: [members[1]],
  });
  const { body: read } = await owner("GET", path);
  expect((await owner("PATCH", path, { ...read, members })).body).toMatchObject({ mcp_server_ids: servers, members });
  const unclear = await owner("PATCH", path, { mcp_server_ids: [servers[0]], members: [members[1]] });
  expect([unclear.status, unclear.body.fields[0].field]).toEqual([400, "mcp_server_ids"]);
});

describe("objects that PATCH replaces as a whole", () => {
  test("the match settings of a semantic cache", async () => {
    const path = "/v1/admin/semantic-cache/configs";
    const { id } = (await owner("POST", path, { name: "cache", exact_match: { enabled: false, ttl_seconds: 60 } })).body;
    const patched = await owner("PATCH", `${path}/${id}`, {
      exact_match: { ttl_seconds: 90 },
      semantic_match: { similarity_threshold: 0.9 },
    });
    expect(patched.body).toMatchObject({
      exact_match: { enabled: true, ttl_seconds: 90 },
      semantic_match: { enabled: false, similarity_threshold: 0.9, ttl_seconds: 3600 },
    });
    expect((await owner("PATCH", `${path}/${id}`, { exact_match: {} })).body).toMatchObject({
      exact_match: { enabled: true, ttl_seconds: 3600 },
      semantic_match: { similarity_threshold: 0.9 },
    });
  });

  test("a tenant's data_retention, by PUT as well, which leaves what it does not name", async () => {
    const path = "/v1/admin/tenants/replaced";
    await plane.system("POST", "/v1/admin/tenants", { id: "replaced", name: "Replaced", run_idle_minutes: 5 });
    const own = { store_bodies: "none", body_days: 1, log_days: 2, run_days: 3, file_days: 4 };
    expect((await plane.system("PATCH", path, { data_retention: own })).body.data_retention).toEqual(own);
    const patched = await plane.system("PATCH", path, { data_retention: { body_days: 9 } });
    expect(patched.body).toMatchObject({
      run_idle_minutes: 5,
      data_retention: { store_bodies: "redacted", body_days: 9, log_days: 400, run_days: 400 },
    });
    const put = await plane.system("PUT", path, { display_name: "Put" });
    const { updated_at: _at, ...rest } = patched.body;
    expect(put.body).toMatchObject({ ...rest, display_name: "Put" });
    expect((await plane.system("PUT", path, { data_retention: own })).body).toMatchObject({ display_name: "Put", data_retention: own });
    expect((await plane.system("PUT", path, { ...put.body, enabled: false })).body.enabled).toBe(false);
    const other = await plane.system("PUT", path, { ...put.body, id: "another" });
    expect([other.status, other.body.fields]).toEqual([422, [{ field: "id", message: "cannot be changed" }]]);
  });
});

describe("a group's settings are read under the member name they are written with", () => {
  test.each([
    ["llm-global-limits", "llm_global_limits", { requests: { daily_limit: 5 } }],
    ["llm-global-governance", "governance", { temperature: { max: 1, enforce: "clamp" } }],
    ["mcp-global-limits", "mcp_global_limits", { frequency: { max_calls_per_minute: 3 } }],
    ["skill-global-limits", "skill_global_limits", { frequency: { max_calls_per_minute: 3 } }],
    ["media-governance", "media_governance", { image: { max_n: 2 } }],
    ["run-ceilings", "run_ceilings", { max_tokens_per_run: 10 }],
    ["agent-skills/a-skill/limits", "limits", { frequency: { max_calls_per_minute: 3 } }],
  ])("%s", async (last, member, document) => {
    const content = "---\nname: limited\ndescription: d\n---\n";
    const { skill } = (await owner("POST", "/v1/admin/agent-skills/import", { files: [{ path: "SKILL.md", content }] })).body;
    const path = `/v1/admin/resource-groups/${groups[0]}/${last.replace("a-skill", skill.id)}`;
    const sent = await owner("PATCH", path, { [member]: document });
    const read = await owner("GET", path);
    const beside = Object.keys(read.body).filter((name) => /^(?:inherited|effective)/.test(name));
    expect([sent.body, read.body[member], beside.length, read.body.own ?? document]).toEqual([read.body, document, 2, document]);
  });
});

test("a change of inherited limits does not invalidate the ETag of a group's own limits", async () => {
  const child = (await owner("POST", "/v1/admin/resource-groups", { name: "child", parent_group_id: groups[1] })).body.id;
  const limits = (group: string | undefined, daily: number, headers?: Record<string, string>) =>
    owner(
      "PATCH",
      `/v1/admin/resource-groups/${group}/llm-global-limits`,
      { llm_global_limits: { requests: { daily_limit: daily } } },
      headers,
    );
  const path = `/v1/admin/resource-groups/${child}/llm-global-limits`;
  const tag = (await owner("GET", path)).headers.get("etag") ?? "";
  await limits(groups[1], 9);
  expect((await owner("GET", path, undefined, { "if-none-match": tag })).status).toBe(200);
  expect((await limits(child, 4, { "if-match": tag })).status).toBe(200);
  expect((await limits(child, 3, { "if-match": tag })).status).toBe(412);
});

describe("a stored API key", () => {
  const sealed = async (table: "providers" | "mcp_servers" | "models", id: string) => {
    const row = await plane.database.db.selectFrom(table).select("api_key_sealed").where("id", "=", id).executeTakeFirstOrThrow();
    return [row.api_key_sealed, plane.directory.secrets.openOrNull(row.api_key_sealed, sealContext(table, id))];
  };
  test.each([
    ["providers", "/v1/admin/providers", { provider_key: "keyed", api_format: "openai", base_url: "http://keyed.example/v1" }],
    ["models", "/v1/admin/llms", { name: "keyed", provider: "p" }],
    ["mcp_servers", "/v1/admin/mcp-servers", { name: "keyed", base_url: "http://keyed.example", auth_type: "bearer" }],
  ] as const)("of %s changes only when a different key is sent", async (table, path, body) => {
    const { id, updated_at: madeAt } = (await owner("POST", path, { ...body, api_key: "the-first-key" })).body;
    const before = await sealed(table, id);
    const same = await owner("PATCH", `${path}/${id}`, { api_key: "the-first-key" });
    expect([same.status, same.body.updated_at, await sealed(table, id)]).toEqual([200, madeAt, before]);
    const other = await owner("PATCH", `${path}/${id}`, { api_key: "the-other-key" });
    // Both keys end in the same characters, so only the stored value shows the change.
    expect([other.status, other.body.api_key_hint, (await sealed(table, id))[1]]).toEqual([200, "-key", "the-other-key"]);
    expect(other.body.updated_at).not.toBe(madeAt);
  });

  test("of a guardrail engine is kept when has_api_key is sent back as read, and replaced by a different key", async () => {
    const path = "/v1/admin/guardrails/configs";
    const engine = { provider: "webhook", endpoint: "https://engine.example/" };
    const { body: made } = await owner("POST", path, { name: "keyed", providers: [{ ...engine, api_key: "first" }] });
    const stored = async () =>
      JSON.stringify(
        (await plane.database.db.selectFrom("guardrail_configs").select("providers").where("id", "=", made.id).executeTakeFirst())
          ?.providers,
      );
    const before = await stored();
    const patch = (providers: object[]) => owner("PATCH", `${path}/${made.id}`, { providers });
    expect((await patch([{ ...engine, api_key: "first" }])).body.updated_at).toBe(made.updated_at);
    expect((await patch([{ ...made.providers[0], action: "warn" }])).body.providers).toEqual([
      { ...engine, action: "warn", has_api_key: true },
    ]);
    expect(await stored()).not.toBe(before);
    const wrong = await patch([{ ...engine, has_api_key: false }]);
    expect([wrong.status, wrong.body.fields[0].field]).toEqual([422, "providers.0.has_api_key"]);
    const kept = await stored();
    expect((await patch([{ ...engine, action: "warn", api_key: "second" }])).status).toBe(200);
    expect(await stored()).not.toBe(kept);
  });
});

test("an uploaded avatar is served by the control plane and deleted when avatar_url is cleared", async () => {
  const { user } = (await owner("POST", "/v1/admin/end-users", { username: "pictured", password: "long enough" })).body;
  const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg==", "base64");
  const form = new FormData();
  form.set("file", new File([png], "me.png"));
  const path = `/v1/admin/end-users/${user.id}`;
  const token = (await plane.logIn("owner-of-acme", ADMIN_PASSWORD, "acme")).body.access_token;
  const sent = (method: string, at: string, body?: FormData, headers: Record<string, string> = {}) =>
    plane.fetch(new Request(`http://x${at}`, { method, headers, ...(body === undefined ? {} : { body }) }));
  const authorization = `Bearer ${token}`;
  expect((await sent("POST", `${path}/photo`, form, { authorization })).status).toBe(200);
  const { body: read } = await owner("GET", path);
  for (const shown of [await sent("GET", read.avatar_url), await sent("GET", `${path}/photo`, undefined, { authorization })])
    expect([shown.status, shown.headers.get("content-type"), Buffer.from(await shown.arrayBuffer())]).toEqual([200, "image/png", png]);
  expect((await owner("PATCH", path, read)).body).toEqual(read);
  expect((await owner("PATCH", path, { avatar_url: null })).body.avatar_url).toBeNull();
  expect([(await sent("GET", read.avatar_url)).status, (await sent("GET", `${path}/photo`, undefined, { authorization })).status]).toEqual([
    404, 404,
  ]);
});

describe("group names are compared in Unicode-composed form and stored as written", () => {
  test.each(["/v1/admin/resource-groups", "/v1/admin/end-user-groups"])("%s", async (path) => {
    const [composed, apart] = ["Café Zürich".normalize("NFC"), "Café Zürich".normalize("NFD")];
    const made = await owner("POST", path, { name: apart });
    expect(made.body.name).toBe(apart);
    const twin = await owner("POST", path, { name: composed });
    expect([twin.status, twin.body.existing_id]).toEqual([409, made.body.id]);
    const key = path.endsWith("end-user-groups") ? "end_user_groups" : "resource_groups";
    const found = await owner("GET", `${path}?search=${encodeURIComponent(composed)}`);
    expect(found.body[key].map(({ id }: { id: string }) => id)).toEqual([made.body.id]);
    expect((await owner("PATCH", `${path}/${made.body.id}`, { name: composed })).body.name).toBe(composed);
    const atOnce = await Promise.all(["Škoda".normalize("NFC"), "Škoda".normalize("NFD")].map((name) => owner("POST", path, { name })));
    expect(atOnce.map(({ status }) => status).sort()).toEqual([201, 409]);
  });
});

test("a health check of an unknown model answers 404, also when no tenant can be determined", async () => {
  const unknown = `/v1/admin/llms/${crypto.randomUUID()}`;
  const checked = await owner("POST", `${unknown}/health-check`);
  expect([checked.status, checked.body]).toEqual([404, { detail: "There is no such model.", code: "not_found" }]);
  const bare = await controlPlane();
  await newTenant(bare, "first");
  await newTenant(bare, "second");
  await bare.database.db.deleteFrom("tenants").where("id", "=", "default").execute();
  for (const [method, path] of [
    ["POST", `${unknown}/health-check`],
    ["GET", unknown],
    ["PATCH", unknown],
  ] as const)
    expect((await bare.system(method, path, method === "PATCH" ? {} : undefined)).status).toBe(404);
  await bare.close();
});

test("an uploaded icon is accepted when its record is sent back in a PATCH", async () => {
  const { id } = (await owner("POST", "/v1/admin/mcp-servers", { name: "with icon", base_url: "http://icon.example" })).body;
  const icon = "data:image/png;base64,AAAA";
  await plane.database.db.updateTable("mcp_servers").set({ icon_url: icon }).where("id", "=", id).execute();
  const { body } = await owner("GET", `/v1/admin/mcp-servers/${id}`);
  const back = await owner("PATCH", `/v1/admin/mcp-servers/${id}`, { ...body, description: "x" });
  expect([back.status, back.body.icon_url, back.body.description]).toEqual([200, icon, "x"]);
});

test("fields that the gateway updates itself may be sent back with the values read earlier", async () => {
  const { id } = (await owner("POST", `/v1/admin/resource-groups/${groups[0]}/api-keys`, { name: "used" })).body;
  const { body: read, headers } = await owner("GET", `/v1/admin/api-keys/${id}`);
  await plane.database.db.updateTable("api_keys").set({ last_used_at: new Date() }).where("id", "=", id).execute();
  const tag = headers.get("etag") ?? "";
  const renamed = await owner("PATCH", `/v1/admin/api-keys/${id}`, { ...read, name: "renamed" }, { "if-match": tag });
  expect([renamed.status, renamed.body.name]).toEqual([200, "renamed"]);
  expect((await owner("PATCH", `/v1/admin/api-keys/${id}`, { ...read, name: "again" })).status).toBe(200);
  // The same timestamps as other languages format them.
  for (const written of [(at: string) => at.replace(/\.?0*Z$/, "Z"), (at: string) => at.replace("Z", "000+00:00")])
    expect(
      (await owner("PATCH", `/v1/admin/api-keys/${id}`, { ...read, created_at: written(read.created_at), name: "again" })).status,
    ).toBe(200);
  for (const updated_at of ["1999-01-01T00:00:00.000Z", "2999-01-01T00:00:00.000Z"])
    expect((await owner("PATCH", `/v1/admin/api-keys/${id}`, { ...read, updated_at })).status).toBe(422);
});

test("a PATCH that changes tenant_id is refused with 422; the unchanged tenant_id is accepted", async () => {
  const { body } = await owner("GET", `/v1/admin/resource-groups/${groups[0]}`);
  for (const send of [owner, plane.system]) {
    const moved = await send("PATCH", `/v1/admin/resource-groups/${groups[0]}`, { tenant_id: "default" });
    expect([moved.status, moved.body.fields]).toEqual([422, [{ field: "tenant_id", message: "cannot be changed" }]]);
    expect((await send("PATCH", `/v1/admin/resource-groups/${groups[0]}`, body)).body).toEqual(body);
  }
  const system = (await plane.system("GET", "/v1/admin/admin-users?role=system_admin")).body.admin_users[0];
  expect(system.tenant_id).toBeNull();
  expect((await plane.system("PATCH", `/v1/admin/admin-users/${system.id}`, system)).body).toEqual(system);
});

test("of two concurrent PATCHes with the same If-Match, by tenant and system administrator, one answers 412", async () => {
  const { id } = (await owner("POST", "/v1/admin/admin-users", { username: "edited", password: "long enough", role: "viewer" })).body;
  const path = `/v1/admin/admin-users/${id}`;
  const { etag } = Object.fromEntries((await owner("GET", path)).headers);
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let held: () => void = () => undefined;
  const isHeld = new Promise<void>((resolve) => (held = resolve));
  const holding = plane.database.db.transaction().execute(async (trx) => {
    await trx.selectFrom("admin_users").select("id").where("id", "=", id).forUpdate().execute();
    held();
    await released;
  });
  await isHeld;
  const edits = [owner, plane.system].map((send, i) => send("PATCH", path, { display_name: `edit ${i}` }, { "if-match": etag as string }));
  // Wait until both edits block: one on the row, the other on the first edit or on the row too.
  await until(
    async () =>
      (await sql<{ count: number }>`SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted`.execute(plane.database.db)).rows[0],
    (waiting) => (waiting?.count ?? 0) >= 2,
  );
  release();
  await holding;
  expect((await Promise.all(edits)).map(({ status }) => status).toSorted()).toEqual([200, 412]);
});

test("deleting a resource group records the deletion of its notice configuration in the admin log", async () => {
  const { id } = (await owner("POST", "/v1/admin/resource-groups", { name: "noticed" })).body;
  const exemption = { asserted: true, basis: "other", rationale: "Nobody is addressed." };
  expect((await owner("PUT", "/v1/admin/notice-config", { ai_system_id: id, enabled: false, exemption })).status).toBe(200);
  expect((await owner("DELETE", `/v1/admin/resource-groups/${id}`)).status).toBe(204);
  const { entries } = (await owner("GET", "/v1/admin/admin-log?page_size=50")).body;
  const sealed = entries.filter(
    (entry: any) => entry.resource === "notice-config" && entry.resource_id === id && entry.action === "delete",
  );
  expect(sealed.map((entry: any) => entry.after.action_record.context)).toEqual([{ record_type: "ai.gw.notice-config", deleted: true }]);
});
