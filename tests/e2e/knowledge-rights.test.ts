import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { type Database, openDatabase } from "../../server/store/database.ts";
import { jsonLog } from "../../server/kernel/log.ts";
import { type AdminClient, type Served, serveModels } from "../support/admin.ts";
import { settledDocument, uploadTo } from "../support/knowledge.ts";
import { newPerson, type PortalClient } from "../support/portal.ts";
import { startWorld, type World } from "../support/world.ts";

/** A thousand documents with the permissions of their source, and fifty readers: each finds and counts what is theirs. */
const DOCUMENTS = 1_000;
const READERS = 50;
const GROUPS = 20;
const LOGGED_IN = 4;
let world: World;
let admin: AdminClient;
let served: Served;
let base = "";
interface Reader {
  readonly id: string;
  readonly identities: readonly string[];
  readonly portal: PortalClient | null;
  credential: string;
}
const readers: Reader[] = [];
const documents: { readonly id: string; readonly allowed: ReadonlySet<string> | null }[] = [];
const TOPICS = ["engine", "garden", "salary", "harbour", "violin"];

let seed = 7;
const random = (below: number) => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((seed / 2_147_483_648) * below);
};

beforeAll(async () => {
  world = await startWorld();
  ({ admin } = world);
  served = await serveModels(admin, world.upstream.baseUrl, [{ name: "fake-1" }]);
  const tenant = { tenant_id: "default" };
  base = (
    await admin.post("/v1/admin/knowledgebases", {
      ...tenant,
      name: "everything",
      group_ids: [served.groupId],
      top_k: 50,
      max_context_tokens: 200_000,
    })
  ).id;
  const connection = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 2 });
  for (let i = 0; i < READERS; i++) {
    // A password costs its hash: a few log in, the others are known by a key of their own.
    const person = i < LOGGED_IN ? await newPerson(world.gateway.runtimeUrl, `reader-${i}`) : { id: crypto.randomUUID() };
    if (i >= LOGGED_IN)
      await sql`INSERT INTO end_users (id, tenant_id, username, password_hash) VALUES (${person.id}, 'default', ${`reader-${i}`}, 'none')`.execute(
        connection.db,
      );
    const identities = [...new Set(Array.from({ length: random(4) }, () => `team-${random(GROUPS)}`))];
    for (const source_identity of identities)
      await admin.post("/v1/admin/kb-identities", { ...tenant, end_user_id: person.id, connector_type: "git", source_identity });
    readers.push({ id: person.id, identities, portal: i < LOGGED_IN ? (person as PortalClient) : null, credential: "" });
  }
  const members = await admin.post("/v1/admin/end-user-groups", { name: "readers", initial_member_ids: readers.map(({ id }) => id) });
  await admin.post(`/v1/admin/end-user-groups/${members.id}/resource-groups`, { resource_group_ids: [served.groupId] });
  for (const reader of readers)
    reader.credential =
      reader.portal?.token ??
      (await admin.post(`/v1/admin/resource-groups/${served.groupId}/api-keys`, { name: reader.id, scope: "user", end_user_id: reader.id }))
        .key_value;
  await seedDocuments(connection.db);
  await connection.close();
});
afterAll(() => world.end());

async function seedDocuments(db: Database): Promise<void> {
  const rows = Array.from({ length: DOCUMENTS }, (_, i) => {
    const id = crypto.randomUUID();
    const allowed = i % 10 === 0 ? null : new Set(Array.from({ length: random(3) }, () => `team-${random(GROUPS)}`));
    documents.push({ id, allowed });
    const principals = allowed === null ? null : ["git:", ...[...allowed].map((name) => `git:${name}`)];
    return { id, name: `document-${i}`, text: `About the ${TOPICS[i % TOPICS.length]}, number ${i}.`, principals };
  });
  const given = sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r (id uuid, name text, text text, principals text[])`;
  await sql`INSERT INTO knowledge_documents (id, knowledge_base_id, tenant_id, name, kind, content, digest, size_bytes, status, chunk_count, principals)
    SELECT id, ${base}, 'default', name, 'text', ''::bytea, name, 0, 'ready', 1, principals FROM ${given}`.execute(db);
  await sql`INSERT INTO knowledge_chunks (document_id, ordinal, knowledge_base_id, tenant_id, heading, body, tokens, digest, lexemes, principals)
    SELECT id, 0, ${base}, 'default', '', text, 10, name, to_tsvector('english', text), principals FROM ${given}`.execute(db);
}

const mayRead = ({ identities }: Pick<Reader, "identities">, { allowed }: (typeof documents)[number]) =>
  allowed === null || identities.some((name) => allowed.has(name));

async function sourcesFor(reader: Reader, question: string): Promise<string[]> {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${reader.credential}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: question }], gw_knowledgebases: [base] }),
  });
  expect(response.status).toBe(200);
  await response.text();
  return (response.headers.get("x-gw-sources") ?? "").split(",").filter((id) => id !== "");
}

test("each of fifty readers finds what is theirs of a thousand documents, by any question, and nothing else", async () => {
  for (const [i, reader] of readers.entries()) {
    const theirs = documents.filter((document) => mayRead(reader, document));
    const topic = TOPICS[i % TOPICS.length] as string;
    const found = await sourcesFor(reader, `What is said about the ${topic}?`);
    const expected = theirs.filter((document) => documents.indexOf(document) % TOPICS.length === i % TOPICS.length).map(({ id }) => id);
    // All that is theirs where it fits, and what others have makes nothing less.
    expect(found.length).toBe(Math.min(50, expected.length));
    expect(expected).toEqual(expect.arrayContaining(found));
    // By the very words of a document that is not theirs.
    const hidden = documents.findIndex((document) => !mayRead(reader, document));
    expect(await sourcesFor(reader, `number ${hidden}`)).not.toContain(documents[hidden]?.id ?? "");
    if (reader.portal === null) continue;
    const { body } = await reader.portal.request("GET", `/knowledgebases/${base}`);
    expect([body.document_count, body.ready_count]).toEqual([theirs.length, theirs.length]);
  }
});

test("a mapping that goes, or a permission that is taken away, holds from the next search on", async () => {
  const reader = readers.find(({ identities, portal }) => portal !== null && identities.length > 0) as Reader;
  const portal = reader.portal as PortalClient;
  const { body } = await uploadTo(world.gateway.adminUrl, admin, base, "plan.txt", "The zeppelin lands at noon.", {
    permissions: JSON.stringify({ connector_type: "git", identities: [reader.identities[0]] }),
  });
  expect(body.permissions).toEqual({ connector_type: "git", identities: [reader.identities[0]] });
  await settledDocument(admin, base, body.id);
  expect(await sourcesFor(reader, "When does the zeppelin land?")).toContain(body.id);
  const changed = await uploadTo(world.gateway.adminUrl, admin, base, "plan.txt", "The zeppelin lands at noon.", {
    permissions: JSON.stringify({ connector_type: "git", identities: [] }),
  });
  expect(changed.body).toMatchObject({ id: body.id, status: "ready", permissions: { connector_type: "git", identities: [] } });
  expect(await sourcesFor(reader, "When does the zeppelin land?")).not.toContain(body.id);

  const { mappings } = (await portal.request("GET", "/kb-identities")).body;
  expect(mappings.map(({ source_identity }: { source_identity: string }) => source_identity).sort()).toEqual([...reader.identities].sort());
  const other = readers.find((one) => one !== reader && one.portal !== null)?.portal as PortalClient;
  expect((await other.request("DELETE", `/kb-identities/${mappings[0].id}`)).status).toBe(404);
  for (const { id } of mappings) expect((await portal.request("DELETE", `/kb-identities/${id}`)).status).toBe(200);
  const open = documents.filter(({ allowed }) => allowed === null).length;
  expect((await portal.request("GET", `/knowledgebases/${base}`)).body.document_count).toBe(open);
  expect((await portal.request("POST", "/kb-identities", { connector_type: "git", source_identity: "team-1" })).status).toBe(501);

  const { passages } = await admin.post(`/v1/admin/knowledgebases/${base}/search`, { query: "zeppelin", end_user_id: reader.id });
  expect(passages).toEqual([]);
});
