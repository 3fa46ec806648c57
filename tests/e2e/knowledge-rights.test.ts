import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { openDatabase } from "../../server/store/database.ts";
import { jsonLog } from "../../server/kernel/log.ts";
import { type AdminClient, type Served, serveModels } from "../support/admin.ts";
import { settledDocument, uploadTo } from "../support/knowledge.ts";
import { newPerson, type PortalClient } from "../support/portal.ts";
import { startWorld, type World } from "../support/world.ts";

/** A thousand documents with the permissions of their source, and fifty readers: each finds and counts what is theirs. */
const DOCUMENTS = 1_000;
const READERS = 50;
const GROUPS = 20;
let world: World;
let admin: AdminClient;
let served: Served;
let base = "";
type Reader = PortalClient & { readonly id: string; readonly identities: readonly string[] };
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
  for (let i = 0; i < READERS; i++) {
    const person = await newPerson(world.gateway.runtimeUrl, `reader-${i}`);
    const identities = [...new Set(Array.from({ length: random(4) }, () => `team-${random(GROUPS)}`))];
    for (const source_identity of identities)
      await admin.post("/v1/admin/kb-identities", { ...tenant, end_user_id: person.id, connector_type: "git", source_identity });
    readers.push({ ...person, identities });
  }
  const members = await admin.post("/v1/admin/end-user-groups", { name: "readers", initial_member_ids: readers.map(({ id }) => id) });
  await admin.post(`/v1/admin/end-user-groups/${members.id}/resource-groups`, { resource_group_ids: [served.groupId] });
  await seedDocuments();
});
afterAll(() => world.end());

async function seedDocuments(): Promise<void> {
  const connection = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 2 });
  for (let i = 0; i < DOCUMENTS; i++) {
    const id = crypto.randomUUID();
    const allowed = i % 10 === 0 ? null : new Set(Array.from({ length: random(3) }, () => `team-${random(GROUPS)}`));
    const principals = allowed === null ? null : ["git:", ...[...allowed].map((name) => `git:${name}`)];
    documents.push({ id, allowed });
    const text = `About the ${TOPICS[i % TOPICS.length]}, number ${i}.`;
    await sql`INSERT INTO knowledge_documents (id, knowledge_base_id, tenant_id, name, kind, content, digest, size_bytes, status, chunk_count, principals)
      VALUES (${id}, ${base}, 'default', ${`document-${i}`}, 'text', ''::bytea, ${id}, 0, 'ready', 1, ${principals}::text[])`.execute(
      connection.db,
    );
    await sql`INSERT INTO knowledge_chunks (document_id, ordinal, knowledge_base_id, tenant_id, heading, body, tokens, digest, lexemes, principals)
      VALUES (${id}, 0, ${base}, 'default', '', ${text}, 10, ${id}, to_tsvector('english', ${text}), ${principals}::text[])`.execute(
      connection.db,
    );
  }
  await connection.close();
}

const mayRead = ({ identities }: Pick<Reader, "identities">, { allowed }: (typeof documents)[number]) =>
  allowed === null || identities.some((name) => allowed.has(name));

async function sourcesFor(reader: PortalClient, question: string): Promise<string[]> {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${reader.token}`, "content-type": "application/json" },
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
    const { body } = await reader.request("GET", `/knowledgebases/${base}`);
    expect([body.document_count, body.ready_count]).toEqual([theirs.length, theirs.length]);
  }
});

test("a mapping that goes, or a permission that is taken away, holds from the next search on", async () => {
  const reader = readers.find(({ identities }) => identities.length > 0) as Reader;
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

  const { mappings } = (await reader.request("GET", "/kb-identities")).body;
  expect(mappings.map(({ source_identity }: { source_identity: string }) => source_identity).sort()).toEqual([...reader.identities].sort());
  const others = readers.find((other) => other !== reader) as Reader;
  expect((await others.request("DELETE", `/kb-identities/${mappings[0].id}`)).status).toBe(404);
  for (const { id } of mappings) expect((await reader.request("DELETE", `/kb-identities/${id}`)).status).toBe(200);
  const open = documents.filter(({ allowed }) => allowed === null).length;
  expect((await reader.request("GET", `/knowledgebases/${base}`)).body.document_count).toBe(open);
  expect((await reader.request("POST", "/kb-identities", { connector_type: "git", source_identity: "team-1" })).status).toBe(501);

  const { passages } = await admin.post(`/v1/admin/knowledgebases/${base}/search`, { query: "zeppelin", end_user_id: reader.id });
  expect(passages).toEqual([]);
});
