import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { actionRecordDigest } from "@gatehouse/ledger-format/action-record";
import { parseExportLine } from "@gatehouse/ledger-format/export";
import { rowOf, serveModels, type Served } from "../../support/worlds/admin.ts";
import { removeDirectory, startGateway } from "../../support/gateway.ts";
import { newPerson, portalClient, type PortalClient } from "../../support/worlds/portal.ts";
import { startWorld, type World } from "../../support/world.ts";

const SECRETS = { GW_SECRET_KEY: Buffer.alloc(32, 7).toString("base64"), GW_JWT_SECRET: "the same secret for both of the processes" };

let world: World;
let served: Served;
let person: PortalClient & { readonly id: string };

const CONFIG = "/v1/admin/notice-config";
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
let made = 0;
const newHandle = () => `01J${String(made++).padStart(23, "0")}`;

beforeAll(async () => {
  world = await startWorld(SECRETS);
  await world.admin.post("/v1/admin/tenants", { id: "other", name: "Other" });
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
  person = await newPerson(world.gateway.runtimeUrl, "reader");
  await world.admin.request("PATCH", `/v1/admin/end-users/${person.id}/primary-group`, { group_id: served.groupId });
});
afterAll(() => world.end());

const post = (handle: string, more: object = {}, client: PortalClient = person) =>
  client.request("POST", "/evidence/notice", {
    conversation_handle: handle,
    locale: "en",
    method: "banner",
    text_sha256: sha256("shown"),
    ...more,
  });
async function chat(handle: string): Promise<any> {
  const reply = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${person.token}`, "content-type": "application/json", "x-gw-conversation-handle": handle },
    body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "x" }] }),
  });
  expect(reply.status).toBe(200);
  return rowOf(world.admin, { correlation_id: reply.headers.get("x-correlation-id") });
}

describe("the notice configuration", () => {
  test("is the AI System's, else the tenant's, else the built-in one in eight languages; changes are in the admin log", async () => {
    const first = (await person.request("GET", "/evidence/notice-config")).body;
    expect([first.enabled, first.surface, Object.keys(first.text).sort(), first.exemption]).toEqual([
      true,
      "both",
      ["de", "en", "es", "fr", "it", "ja", "pt", "zh"],
      undefined,
    ]);
    for (const [locale, text] of Object.entries(first.text)) expect(first.text_sha256[locale]).toBe(sha256(text as string));

    const texts = { en: "This is an AI. It may be wrong.", "de-CH": "Das ist eine KI." };
    expect((await world.admin.request("PUT", CONFIG, { surface: "banner", texts })).body).toMatchObject({
      source: "tenant",
      surface: "banner",
      text_digests: { en: sha256(texts.en) },
    });
    await world.admin.request("PUT", CONFIG, {
      ai_system_id: served.groupId,
      enabled: false,
      exemption: { asserted: true, basis: "obvious_from_context", rationale: "A robot arm." },
    });
    expect((await person.request("GET", "/evidence/notice-config")).body).toEqual({
      enabled: true,
      surface: "banner",
      text: texts,
      text_sha256: { en: sha256(texts.en), "de-CH": sha256(texts["de-CH"]) },
    });
    expect((await person.request("GET", `/evidence/notice-config?ai_system_id=${served.groupId}`)).body).toMatchObject({
      enabled: false,
      exemption: { asserted: true, basis: "obvious_from_context" },
    });
    expect(await post(newHandle(), { ai_system_id: served.groupId })).toMatchObject({ status: 503, body: { code: "evidence_disabled" } });

    const { entries } = await world.admin.get("/v1/admin/admin-log?page_size=20");
    const sealed = entries
      .filter(({ resource }: { resource: string }) => resource === "notice-config")
      .map(({ after }: { after: any }) => after);
    expect(sealed.map(({ action_record }: any) => action_record.context.record_type).sort()).toEqual([
      "ai.gw.declaration",
      "ai.gw.notice-config",
      "ai.gw.notice-config",
    ]);
    for (const { action_record, digest } of sealed) expect(actionRecordDigest(action_record)).toBe(digest);
    expect(sealed.at(-1).action_record.references.map(({ locale, digest }: any) => [locale, digest])).toEqual([
      ["en", sha256(texts.en)],
      ["de-CH", sha256(texts["de-CH"])],
    ]);

    const stood = await world.admin.get(CONFIG);
    await world.admin.request("PUT", CONFIG, { surface: "inline" });
    const builtIn = await world.admin.get(CONFIG);
    expect((await world.admin.request("DELETE", CONFIG)).status).toBe(204);
    const ofSystem = await world.admin.get(`${CONFIG}?ai_system_id=${served.groupId}`);
    expect((await world.admin.request("DELETE", `${CONFIG}?ai_system_id=${served.groupId}`)).status).toBe(204);
    const told = (await world.admin.get("/v1/admin/admin-log?page_size=20")).entries
      .filter(({ resource }: { resource: string }) => resource === "notice-config")
      .toReversed()
      .map(({ action, before, after: { action_record: record } }: any) => [
        action,
        before,
        Object.fromEntries(record.references.map(({ locale, digest }: any) => [locale, digest])),
      ]);
    expect(told).toEqual([
      ["set", null, stood.text_digests],
      ["set", null, first.text_sha256],
      ["declare_exemption", null, {}],
      ["set", stood, first.text_sha256],
      ["delete", builtIn, first.text_sha256],
      ["delete", ofSystem, first.text_sha256],
    ]);

    expect((await world.admin.request("DELETE", CONFIG)).status).toBe(404);
    expect((await world.admin.get(CONFIG)).source).toBe("default");
  });

  test.each([
    [{ enabled: false }, "exemption"],
    [{ enabled: false, exemption: { asserted: false, basis: "other", rationale: "x" } }, "exemption"],
    [{ surface: "popup" }, "surface"],
    [{ texts: { en: "x".repeat(2001) } }, "texts.en"],
    [{ texts: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`en-a${String(i).padStart(3, "0")}`, "x"])) }, "texts"],
    [{ exemption: { asserted: true, basis: "because", rationale: "x" } }, "exemption.basis"],
    [{ exemption: { asserted: true, basis: "other", rationale: "x".repeat(4001) } }, "exemption.rationale"],
    [{ ai_system_id: crypto.randomUUID() }, "ai_system_id"],
    [{ ai_system_id: "mine" }, "ai_system_id"],
    [{ ai_system_id: ["mine"] }, "ai_system_id"],
  ])("%j is refused by field", async (body, field) => {
    const reply = await world.admin.request("PUT", CONFIG, body);
    expect([reply.status, reply.body.fields[0].field]).toEqual([400, field]);
  });
});

describe("a notice record", () => {
  test("posted several times at once is stored once", async () => {
    const handle = newHandle();
    const replies = await Promise.all([1, 2, 3].map(() => post(handle)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(replies.map(({ body }) => body.record_id)).size).toBe(1);
  });

  test("is sealed without its user, once per conversation and method, verifies offline, and answers refer to it", async () => {
    const handle = newHandle();
    const text = (await person.request("GET", "/evidence/notice-config")).body.text_sha256.de;
    const reply = await post(handle, { locale: "de", text_sha256: text });
    expect([reply.status, Object.keys(reply.body)]).toEqual([200, ["record_id"]]);
    const again = await post(handle, { locale: "de", text_sha256: text, ai_system_id: null });
    const inline = await post(handle, { method: "inline" });
    expect([again.body.record_id, inline.body.record_id === reply.body.record_id]).toEqual([reply.body.record_id, false]);

    const turn = await chat(handle);
    expect(turn.custom_metadata).toMatchObject({
      conversation_handle: handle,
      references: [{ type: "ai.gw.notice", record_id: reply.body.record_id, purpose: "responds_to" }],
    });

    const row = await rowOf(world.admin, { id: reply.body.record_id });
    const { action_record: record } = row.custom_metadata;
    expect(record).toMatchObject({
      schema: "ai.gw/action-record/v1",
      kind: "fyi",
      verdict: "recorded",
      operator: "default",
      system: { ai_system_id: null },
      timestamp: row.timestamp,
      record_id: reply.body.record_id,
      context: { record_type: "ai.gw.notice", surface: "portal", conversation_handle: handle, locale: "de", method: "banner" },
      references: [{ type: "ai.gw.notice-text", digest_alg: "SHA-256", digest: text, purpose: "rendered_text" }],
      controls: [{ id: "notice.text_known", result: "pass", blocking: false, kind: "check" }],
    });
    expect([row.gateway_user_id, row.gateway_user_username, row.subject_id, row.resource_group_id]).toEqual([null, null, null, null]);
    expect(JSON.stringify(row)).not.toContain(person.id);
    expect(row.request_content_hash).toBe(actionRecordDigest(record));
    expect((await rowOf(world.admin, { id: inline.body.record_id })).custom_metadata.action_record.controls[0].result).toBe("fail");
  });

  test("that is malformed gets 422, and the thirty-first in a minute 429", async () => {
    for (const wrong of [
      { conversation_handle: "x" },
      { locale: "english please" },
      { method: "popup" },
      { text_sha256: "abc" },
      { extra: 1 },
    ]) {
      const reply = await post(newHandle(), wrong);
      expect([reply.status, reply.body.code, reply.body.fields.length]).toEqual([422, "invalid_notice", 1]);
    }
    // One of another tenant, and one that does not exist.
    const { id: stranger } = await world.admin.post("/v1/admin/resource-groups", {
      tenant_id: "other",
      name: "theirs",
      group_type: "team",
    });
    for (const ai_system_id of [stranger, crypto.randomUUID()]) {
      const handle = newHandle();
      expect((await post(handle, { ai_system_id })).body).toMatchObject({ code: "invalid_notice", fields: [{ field: "ai_system_id" }] });
      expect(await post(handle, { ai_system_id })).toMatchObject({ status: 422 });
      expect((await person.request("GET", `/evidence/notice-config?ai_system_id=${ai_system_id}`)).status).toBe(404);
      const asAdmin = await world.admin.request("GET", `${CONFIG}?tenant_id=default&ai_system_id=${ai_system_id}`);
      expect([asAdmin.status, asAdmin.body.code]).toEqual([404, "not_found"]);
    }
  });

  test("is limited to 30 per person and minute, across all processes", async () => {
    const other = await startGateway({ databaseUrl: world.databaseUrl, env: { ...SECRETS, GW_ROLES: "runtime" } });
    const eager = await newPerson(world.gateway.runtimeUrl, "eager");
    const clients = [eager, portalClient(other.runtimeUrl, eager.token)];
    const replies = await Promise.all(Array.from({ length: 40 }, (_, i) => post(newHandle(), {}, clients[i % 2])));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(30);
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(10);
    for (const { body, headers } of refused) expect([body.code, headers.get("retry-after")]).toEqual(["rate_limited", "60"]);
    expect((await post(newHandle())).status).toBe(200);
    await other.stop();
    await removeDirectory(other.dataDir);
    expect((await post(newHandle())).status).toBe(200);
  });
});

test("no row of a request to the evidence endpoints names the person or their group", async () => {
  const { admin, gateway } = world;
  const provider = await admin.post("/v1/admin/identity-providers", {
    kind: "oidc",
    audience: "portal",
    name: "sign-on",
    oidc: { issuer: "https://issuer.example", client_id: "c" },
    client_secret: "a secret",
  });
  const hidden = await newPerson(gateway.runtimeUrl, "hidden-person");
  await admin.post(`/v1/admin/identity-providers/${provider.id}/identities`, { subject: "hidden-subject", end_user_id: hidden.id });
  await admin.request("PATCH", `/v1/admin/end-users/${hidden.id}/primary-group`, { group_id: served.groupId });
  const told = await rowOf(admin, { id: (await hidden.request("GET", "/auth/profile")).headers.get("x-request-id") });
  expect([told.gateway_user_id, told.idp_user_id, told.resource_group_id]).toEqual([hidden.id, "hidden-subject", served.groupId]);

  const exemption = { asserted: true, basis: "obvious_from_context", rationale: "A robot arm." };
  await admin.request("PUT", CONFIG, { ai_system_id: served.groupId, enabled: false, exemption });
  const replies = [
    await hidden.request("GET", "/evidence/notice-config"),
    await hidden.request("GET", "/evidence/notice-config?surprise=1"),
    await hidden.request("GET", `/evidence/notice-config?ai_system_id=${crypto.randomUUID()}`),
    await post(newHandle(), {}, hidden),
    await post(newHandle(), { extra: 1 }, hidden),
    await post(newHandle(), { ai_system_id: crypto.randomUUID() }, hidden),
    await post(newHandle(), { ai_system_id: served.groupId }, hidden),
    await post("x".repeat(256 * 1024), {}, hidden),
    (await Promise.all(Array.from({ length: 31 }, () => post(newHandle(), {}, hidden)))).find(({ status }) => status === 429),
  ];
  await admin.request("DELETE", `${CONFIG}?ai_system_id=${served.groupId}`);
  expect(replies.map((reply) => reply?.status)).toEqual([200, 400, 404, 200, 422, 422, 503, 413, 429]);
  for (const reply of replies) {
    const row = await rowOf(admin, { id: reply?.headers.get("x-request-id") });
    expect([row.tenant_id, row.http_status_code]).toEqual(["default", reply?.status]);
    expect([row.subject_id, row.subject_kind, row.resource_group_id]).toEqual([null, null, null]);
    expect(JSON.stringify(row)).not.toMatch(new RegExp(`${hidden.id}|hidden`));
  }
});

test("the statement counts conversations whose notice came first, as does a recount from the exported ledger", async () => {
  const [noticed, late, never] = [newHandle(), newHandle(), newHandle()];
  await post(noticed);
  await chat(noticed);
  await chat(late);
  await post(late);
  await chat(late);
  await chat(never);
  await post(newHandle());
  const from = new Date(Date.now() - 600_000).toISOString();
  const statement = await world.admin.get(`${CONFIG}/statement?from=${from}`);
  const [{ chain_id: chain }] = (await world.admin.get("/v1/admin/audit/chains")).chains;
  const response = await fetch(`${world.gateway.adminUrl}/v1/admin/audit/chains/${chain}/export`, {
    headers: { authorization: `Bearer ${world.admin.token}` },
  });
  const rows = (await response.text())
    .split("\n")
    .filter((line) => line !== "")
    .map(parseExportLine)
    .flatMap((line) => (line.type === "row" ? [line.row as any] : []));
  const turns = new Map<string, any>();
  const notices = new Map<string, any>();
  for (const row of rows) {
    const handle = row.custom_metadata?.conversation_handle;
    if (handle === undefined) continue;
    const seen = row.proxy_subtype === "notice" ? notices : turns;
    if (!seen.has(handle)) seen.set(handle, row);
  }
  const met = [...turns].filter(
    ([handle, turn]) =>
      notices.has(handle) && notices.get(handle).timestamp < turn.timestamp && notices.get(handle).chain_seq < turn.chain_seq,
  ).length;
  expect(statement).toMatchObject({ statement: "notice.before_first_turn", met, of: turns.size });
  expect(statement.not_met).toEqual(expect.arrayContaining([late, never]));
  expect(statement.not_met).not.toContain(noticed);
  expect(statement.of - statement.met).toBe(statement.not_met.length);
  expect((await world.admin.get(`${CONFIG}/statement?from=2999-01-01T00:00:00Z`)).of).toBe(0);
});

test("looking up models before the notice is shown does not count as an answer of an AI", async () => {
  const handle = newHandle();
  const asked = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/models`, {
    headers: { authorization: `Bearer ${person.token}`, "x-gw-conversation-handle": handle },
  });
  const listed = await rowOf(world.admin, { id: asked.headers.get("x-request-id") });
  expect([listed.http_status_code, listed.custom_metadata.conversation_handle]).toEqual([200, handle]);
  await post(handle);
  await chat(handle);
  const { not_met: late } = await world.admin.get(`${CONFIG}/statement?from=${listed.timestamp}`);
  expect(late).not.toContain(handle);
});
