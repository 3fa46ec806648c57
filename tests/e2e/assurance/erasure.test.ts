import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { jsonLog } from "../../../server/kernel/log.ts";
import { type Database, openDatabase } from "../../../server/store/database.ts";
import { rowsOf, serveModels, type Served } from "../../support/worlds/admin.ts";
import { ABOUT_NOBODY, COLUMNS_GO, KNOW_IDS, WHOLE_ROWS_GO } from "../../support/records/personal-data.ts";
import { logIn, newPerson, PASSWORD, portalClient, type PortalClient } from "../../support/worlds/portal.ts";
import { nothingStored, storedBytes } from "../../support/records/stored-bytes.ts";
import { startStatelessServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { startWorld, type World } from "../../support/world.ts";
import { leaveTask } from "../../support/records/agent-task-rows.ts";
import { grant, stateless } from "../tools/mcp-harness.ts";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg==";

let world: World;
let connection: { readonly db: Database; close(): Promise<void> };
let served: Served;
let tools: ToolServerFixture;
let mary: PortalClient & { readonly id: string };
let john: PortalClient & { readonly id: string };
let serverId: string;

beforeAll(async () => {
  world = await startWorld({ GW_JWT_EXPIRY_SECONDS: "86400" });
  connection = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 2 });
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
  tools = startStatelessServer();
  serverId = (await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "tools", base_url: tools.baseUrl })).id;
  await grant(world.admin, "tools", serverId, [served.groupId], { approval_required_tools: ["echo"] });
});
afterAll(async () => {
  await connection.close();
  await tools.stop();
  await world.end();
});

/** All tables with their columns, except partitions. */
async function schema(): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ table: string; columns: string[] }>`
    SELECT c.relname AS table, array_agg(a.attname::text ORDER BY a.attnum) AS columns
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition GROUP BY 1`.execute(connection.db);
  return new Map(rows.map(({ table, columns }) => [table, columns]));
}

/** Every place in the database that contains one of the texts, as `table.column`. */
async function placesOf(texts: readonly string[]): Promise<string[]> {
  const places: string[] = [];
  for (const table of (await schema()).keys()) {
    const { rows } = await sql<{ column: string }>`
      SELECT DISTINCT e.key AS column FROM ${sql.table(table)} t, jsonb_each_text(to_jsonb(t)) e
       WHERE EXISTS (SELECT FROM unnest(${texts}::text[]) x WHERE strpos(lower(e.value), lower(x)) > 0)`.execute(connection.db);
    places.push(...rows.map(({ column }) => `${table}.${column}`));
  }
  return places.sort();
}

test("every table and column is classified as personal or not", async () => {
  const found = await schema();
  expect([...found.keys()].sort()).toEqual([...WHOLE_ROWS_GO, ...Object.keys(COLUMNS_GO), ...KNOW_IDS, ...ABOUT_NOBODY].sort());
  for (const [table, { erased, stay }] of Object.entries(COLUMNS_GO))
    expect(found.get(table)?.toSorted()).toEqual([...erased, ...stay].sort());
});

const callTool = (who: PortalClient, text: string) =>
  fetch(`${world.gateway.runtimeUrl}/v1/proxy/mcp/${serverId}`, {
    method: "POST",
    headers: { authorization: `Bearer ${who.token}`, "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify(stateless(1, "tools/call", { name: "echo", arguments: { text } })),
  });

/** Leaves data of Mary in every place that can hold some. */
async function leavePersonalData(): Promise<void> {
  const { admin, gateway } = world;
  const url = gateway.runtimeUrl;
  const made = await portalClient(url).request("POST", "/auth/register", {
    username: "mary-smith",
    password: PASSWORD,
    email: "mary@home.example",
    display_name: "Mary Smith",
    photo_base64: PIXEL,
  });
  mary = { ...(await logIn(url, "mary-smith")), id: made.body.id };
  john = await newPerson(url, "john");
  await mary.request("PATCH", "/auth/profile", { metadata: { born: "marys birthday" } });
  const members = await admin.post("/v1/admin/end-user-groups", { name: "people", initial_member_ids: [mary.id, john.id] });
  await admin.post(`/v1/admin/end-user-groups/${members.id}/resource-groups`, { resource_group_ids: [served.groupId] });
  const key = (
    await admin.post(`/v1/admin/resource-groups/${served.groupId}/api-keys`, { name: "work key", scope: "user", end_user_id: mary.id })
  ).key_value;
  await mary.request("POST", "/auth/2fa/setup");

  for (const credential of [{ authorization: `Bearer ${mary.token}` }, { "x-api-key": key }] as Record<string, string>[]) {
    const answer = await fetch(`${url}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: {
        ...credential,
        "content-type": "application/json",
        "x-gw-run-id": "marys divorce",
        "x-gw-session-id": "s",
        "x-gw-conversation-handle": "01JABCDEFGHJKMNPQRSTVWXYZ0",
      },
      body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "marys secret" }] }),
    });
    expect(answer.status).toBe(200);
    await answer.text();
  }
  const letter = new FormData();
  letter.set("kind", "document");
  letter.set("file", new Blob(["marys letter"]), "letter.txt");
  const stored = await fetch(`${url}/v1/proxy/files`, { method: "POST", headers: { authorization: `Bearer ${mary.token}` }, body: letter });
  expect(stored.status).toBe(201);
  expect(await storedBytes(world.gateway.dataDir)).toHaveLength(1);
  expect((await mary.request("POST", "/runs/marys%20divorce/feedback", { score: 1, comment: "marys comment" })).status).toBe(200);
  expect((await mary.request("POST", "/runs/johns%20divorce/feedback", { score: 1 })).status).toBe(404);
  for (const [way, init] of [
    ["", {}],
    ["/end", { method: "POST" }],
  ] as const)
    expect(
      (await fetch(`${url}/v1/runs/marys%20divorce${way}`, { ...init, headers: { authorization: `Bearer ${mary.token}` } })).status,
    ).toBe(200);

  const asked = (await callTool(mary, "marys argument")).headers.get("x-gw-approval-id");
  await callTool(mary, "marys other argument");
  expect((await john.request("POST", `/approvals/${asked}/approve`, { note: "since mary-smith asks" })).status).toBe(200);
  const resolved = (await callTool(john, "johns argument")).headers.get("x-gw-approval-id");
  expect((await mary.request("POST", `/approvals/${resolved}/reject`, { note: "marys note" })).status).toBe(200);

  await sql`INSERT INTO alerts (id, tenant_id, alert_type, severity, title, message, crossing) VALUES ('alert', 'default', 'usage_warning', 'warning', 't', 'm', 'x')`.execute(
    connection.db,
  );
  // Really sealed, so the test can only check that the row exists.
  await sql`INSERT INTO held_answers (approval_id, tenant_id, sealed) VALUES (${asked}, 'default', 'marys answer')`.execute(connection.db);
  await sql`INSERT INTO notice_posts (end_user_id, tenant_id, posted_at) VALUES (${mary.id}, 'default', ARRAY[now()])`.execute(
    connection.db,
  );
  await sql`INSERT INTO page_sessions (id, tenant_id, end_user_id, generation, secret_hash, rotated_at, created_at, expires_at) VALUES (gen_random_uuid(), 'default', ${mary.id}, now(), 'h', now(), now(), now() + interval '1 day')`.execute(
    connection.db,
  );
  await sql`WITH p AS (INSERT INTO identity_providers (id, tenant_id, kind, name, audience, settings) VALUES (gen_random_uuid(), 'default', 'oidc', 'p', 'portal', '{}') RETURNING id)
    , s AS (INSERT INTO sign_on_sessions (id, tenant_id, provider_id, end_user_id, subject_hash, created_at, expires_at)
      SELECT gen_random_uuid(), 'default', id, ${mary.id}, 'h', now(), now() + interval '1 day' FROM p)
    INSERT INTO external_identities (provider_id, subject, tenant_id, end_user_id) SELECT id, 'mary', 'default', ${mary.id} FROM p`.execute(
    connection.db,
  );
  await sql`INSERT INTO scim_users (end_user_id, tenant_id, source, attributes, created_at, updated_at) VALUES (${mary.id}, 'default', 'scim', '{"userName":"mary"}', now(), now())`.execute(
    connection.db,
  );
  await sql`INSERT INTO alert_acknowledgements (alert_id, end_user_id) VALUES ('alert', ${mary.id})`.execute(connection.db);
  await sql`INSERT INTO kb_identities (id, tenant_id, end_user_id, connector_type, source_identity) VALUES (gen_random_uuid(), 'default', ${mary.id}, 'git', 'mary-smith')`.execute(
    connection.db,
  );
  const token = crypto.randomUUID();
  await sql`INSERT INTO oauth_tokens (id, tenant_id, principal_type, principal_id, mcp_server_id, issuer, client_id, redirect_uri, resource, access_token_sealed) VALUES (${token}, 'default', 'user', ${mary.id}, ${serverId}, 'i', 'c', 'r', 'r', 'marys sealed token')`.execute(
    connection.db,
  );
  await sql`INSERT INTO oauth_client_grants (id, tenant_id, token_id, client_hash, nonce) VALUES (gen_random_uuid(), 'default', ${token}, 'marys client', 'n')`.execute(
    connection.db,
  );
  await leaveTask(connection.db, mary.id);
  await sql`WITH j AS (INSERT INTO batch_jobs (id, tenant_id, resource_group_id, end_user_id, status, endpoint, completion_window, request_id, client_ip, created_at, ended_at, expires_at)
      VALUES ('batch_1', 'default', ${served.groupId}, ${mary.id}, 'completed', 'e', '24h', 'r', '', now(), now(), now() + interval '1 day') RETURNING id)
    , l AS (INSERT INTO batch_lines (job_id, line, custom_id, body, state, result) SELECT id, 1, 'c', '"marys question"', 2, '"marys answer"' FROM j RETURNING job_id, line)
    INSERT INTO batch_departures (job_id, line, tenant_id, left_from, call_id, model_id, operation, audit_row, asked, bytes)
      SELECT job_id, line, 'default', gen_random_uuid(), 'c', 'm', 'chat', '{}', '"marys question"', 1 FROM l`.execute(connection.db);
  await sql`INSERT INTO video_jobs (id, tenant_id, resource_group_id, end_user_id, status, model_id, model, provider_key, upstream_id, display_name, prices, held_micro_usd, look_at, request_id, client_ip, created_at, updated_at, ended_at, settled_at, expires_at)
    VALUES ('video_1', 'default', ${served.groupId}, ${mary.id}, 'succeeded', 'm', 'm', 'p', 'u', 'marys film', '{}', 0, now(), 'r', '', now(), now(), now(), now(), now() + interval '1 day')`.execute(
    connection.db,
  );
  await sql`INSERT INTO stored_responses (tenant_id, id, resource_group_id, end_user_id, model_id, model, provider_key, request_id, client_ip, input_characters, created_at, expires_at, streamed, held_tokens, held_micro_usd)
    VALUES ('default', 'resp_1', ${served.groupId}, ${mary.id}, 'm', 'm', 'p', 'r', '', 0, now(), now() + interval '1 day', false, 0, 0)`.execute(
    connection.db,
  );
  await sql`INSERT INTO resumable_uploads (id, tenant_id, resource_group_id, end_user_id, display_name, size_bytes, expires_at)
    VALUES ('upload_1', 'default', ${served.groupId}, ${mary.id}, 'marys diary', 1, now() + interval '1 day')`.execute(connection.db);
  const config = crypto.randomUUID();
  await sql`INSERT INTO semantic_cache_configs (id, tenant_id, name, exact_match, semantic_match, generation) VALUES (${config}, 'default', 'c', '{}', '{}', gen_random_uuid())`.execute(
    connection.db,
  );
  await sql`INSERT INTO semantic_cache_entries (id, tenant_id, config_id, exact_key, model_id, model_name, answer, tokens, call_id, created_at, end_user_id) VALUES ('e', 'default', ${config}, 'k', gen_random_uuid(), 'm', '"marys answer"', 1, 'x', now(), ${mary.id})`.execute(
    connection.db,
  );
  await rowsOf(admin, { gateway_user_id: mary.id, proxy_type: "mcp" }, 2);
}

test("an erased person remains only as the ID in sealed records, and nobody else loses data", async () => {
  await leavePersonalData();
  const { admin, gateway } = world;
  const path = "/v1/admin/data-erasure?tenant_id=default";
  const traces = ["mary-smith", "mary@home", "Mary Smith", "marys ", "divorce"];
  const before = await placesOf([...traces, mary.id]);
  // Everything that erasure promises to delete existed before.
  expect(WHOLE_ROWS_GO.filter((table) => !before.some((place) => place.startsWith(`${table}.`)))).toEqual([]);
  for (const place of [
    "approvals.requester_display",
    "approvals.call_arguments",
    "approvals.resolved_by",
    "approvals.resolution_note",
    "notifications.body",
    "runs.run_id",
    "runs.participants",
    "run_feedback.comment",
    "audit_rows.gateway_user_username",
    "audit_rows.request_body_preview",
  ])
    expect(before).toContain(place);
  const { avatar_url: photo } = (await mary.request("GET", "/auth/profile")).body;
  const stream = await fetch(`${gateway.runtimeUrl}/v1/portal/events`, { headers: { authorization: `Bearer ${mary.token}` } });

  for (const subject of [
    { gateway_user_username: "mary-smith", gateway_user_id: john.id },
    { gateway_user_username: "mary-smith", gateway_user_id: "an account deleted before" },
  ]) {
    const refused = await admin.request("POST", path, { subject });
    expect([refused.status, refused.body.fields]).toEqual([400, [{ field: "subject", message: "names more than one person" }]]);
  }
  const johns = await placesOf([john.id]);
  const event = await admin.post(path, { subject: { gateway_user_username: "mary-smith" } });
  expect(event).toMatchObject({
    account_erased: true,
    approvals_erased: 3,
    runs_changed: expect.any(Number),
    identifiers: ["gateway_user_username", "gateway_user_id"],
  });
  expect((await admin.get(path)).erasures[0]).toEqual({
    ...event,
    at: expect.any(String),
    identifiers: expect.arrayContaining(event.identifiers),
  });

  await nothingStored(gateway.dataDir);
  expect([(await mary.request("GET", "/auth/profile")).status, (await fetch(gateway.runtimeUrl + photo)).status]).toEqual([401, 404]);
  expect(
    (await portalClient(gateway.runtimeUrl).request("POST", "/auth/login", { username: "mary-smith", password: PASSWORD })).status,
  ).toBe(401);
  expect(JSON.stringify(await admin.get("/v1/admin/end-users/export/json?tenant_id=default"))).not.toContain("mary-smith");
  expect(await stream.text()).toStartWith("event: ready");
  // The last events of her open stream have reached the ledger, and are erased like the rest.
  await rowsOf(admin, { proxy_subtype: "events" }, 1);
  expect(await placesOf(traces)).toEqual([]);
  expect(await placesOf([mary.id])).toEqual([
    "admin_log.actor_id",
    "admin_log.after",
    "admin_log.before",
    "admin_log.resource_id",
    "approvals.requester_id",
    "audit_rows.subject_id",
    "config_changes.ref",
  ]);
  // John's notifications about Mary's approvals are gone; they were all he had.
  expect(await placesOf([john.id])).toEqual(johns.filter((place) => place !== "notifications.end_user_id"));
  expect(
    (await admin.get(`/v1/admin/approvals?tenant_id=default`)).approvals.map((one: any) => [
      one.requester_display,
      one.status,
      one.resolved_by,
      one.call_arguments,
    ]),
  ).toEqual([
    ["john", "rejected", "erased", { text: "johns argument" }],
    ["erased", "expired", null, {}],
    ["erased", "expired", "john", {}],
  ]);

  // A second erasure finds nothing, and someone else may take the username.
  expect(await admin.post(path, { subject: { gateway_user_id: mary.id } })).toMatchObject({
    account_erased: false,
    approvals_erased: 0,
    rows_erased: 0,
  });
  expect((await newPerson(gateway.runtimeUrl, "mary-smith")).id).not.toBe(mary.id);
});
