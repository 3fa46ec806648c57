import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { type Database, openDatabase } from "../../../server/store/database.ts";
import { jsonLog } from "../../../server/kernel/log.ts";
import { type AdminClient, type Served, serveModels } from "../../support/worlds/admin.ts";
import { settledDocument, uploadTo } from "../../support/worlds/knowledge.ts";
import { newPerson, type PortalClient } from "../../support/worlds/portal.ts";
import { startWorld, type World } from "../../support/world.ts";

/** A thousand documents with their sources' permissions, and fifty readers: each finds and counts only what they may read. */
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
    // Password hashing is slow: a few readers log in, the others use a key of their own.
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

async function sourcesFor(reader: Reader, question: string, from = base): Promise<string[]> {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${reader.credential}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: question }], gw_knowledgebases: [from] }),
  });
  expect(response.status).toBe(200);
  await response.text();
  return (response.headers.get("x-gw-sources") ?? "").split(",").filter((id) => id !== "");
}

test("each of 50 readers finds only the documents they may read among 1,000, whatever they ask", async () => {
  for (const [i, reader] of readers.entries()) {
    const theirs = documents.filter((document) => mayRead(reader, document));
    const topic = TOPICS[i % TOPICS.length] as string;
    const found = await sourcesFor(reader, `What is said about the ${topic}?`);
    const expected = theirs.filter((document) => documents.indexOf(document) % TOPICS.length === i % TOPICS.length).map(({ id }) => id);
    // Everything they may read, up to the limit; documents of others do not reduce it.
    expect(found.length).toBe(Math.min(50, expected.length));
    expect(expected).toEqual(expect.arrayContaining(found));
    // Asks with the exact words of a document they may not read.
    const hidden = documents.findIndex((document) => !mayRead(reader, document));
    expect(await sourcesFor(reader, `number ${hidden}`)).not.toContain(documents[hidden]?.id ?? "");
    if (reader.portal === null) continue;
    const { body } = await reader.portal.request("GET", `/knowledgebases/${base}`);
    expect([body.document_count, body.ready_count]).toEqual([theirs.length, theirs.length]);
  }
});

test("a removed identity mapping or permission takes effect from the next search", async () => {
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

test("a passage can be opened only by readers who may find it", async () => {
  const reader = readers.find(({ portal, identities }) => portal !== null && identities.length > 0) as Reader;
  const portal = reader.portal as PortalClient;
  const who = await admin.get(`/v1/admin/kb-identities?end_user_id=${reader.id}`);
  const now = { identities: who.mappings.map((one: any) => one.source_identity) };
  const [open, hidden] = [documents.filter((one) => mayRead(now, one)), documents.filter((one) => !mayRead(now, one))];
  const asked = [open[0], hidden[0], open[1], hidden[1]].map((one) => `${one?.id}:0`);
  const { status, body } = await portal.request("GET", `/knowledge-passages?ids=${asked.join(",")}`);
  expect(status).toBe(200);
  expect(body.passages.map(({ document_id: id }: any) => id)).toEqual([open[0]?.id, open[1]?.id]);
  expect(body.passages[0]).toMatchObject({ collection_id: base, ordinal: 0, text: expect.stringContaining("About the") });
  for (const ids of ["", "x", `${open[0]?.id}`, `${open[0]?.id}:0,`, Array.from({ length: 51 }, () => `${open[0]?.id}:0`).join(",")])
    expect((await portal.request("GET", `/knowledge-passages?ids=${ids}`)).status).toBe(400);
});

/** How often a value of `a` is larger than one of `b`: 0.5 if they cannot be told apart. */
const larger = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, one) => sum + b.filter((other) => one > other).length + b.filter((other) => one === other).length / 2, 0) /
  (a.length * b.length);

test("the duration of a search does not reveal that passages were held back", async () => {
  const TURNS = 100;
  const reader = readers.find(({ identities, portal }) => identities.length === 0 && portal === null) as Reader;
  const held = { tenant_id: "default", name: "held back", group_ids: [served.groupId], top_k: 50, max_context_tokens: 200_000 };
  const { id } = await admin.post("/v1/admin/knowledgebases", held);
  const { db, close } = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 2 });
  // Two thousand passages about one topic that the reader may not find, and a few that everyone may.
  await sql`INSERT INTO knowledge_documents (id, knowledge_base_id, tenant_id, name, kind, content, digest, size_bytes, status, chunk_count, principals)
    SELECT gen_random_uuid(), ${id}, 'default', 'held-' || i, 'text', ''::bytea, '', 0, 'ready', 1,
           CASE WHEN i <= 2000 THEN '{git:,git:nobody}'::text[] END FROM generate_series(1, 2100) i`.execute(db);
  await sql`INSERT INTO knowledge_chunks (document_id, ordinal, knowledge_base_id, tenant_id, heading, body, tokens, digest, lexemes, principals)
    SELECT d.id, 0, ${id}, 'default', '', b.text, 10, d.name, to_tsvector('english', b.text), d.principals FROM knowledge_documents d,
      LATERAL (SELECT CASE WHEN d.principals IS NULL THEN 'An open garden.' ELSE 'The zirconium merger of ' || d.name END AS text) b
     WHERE d.knowledge_base_id = ${id}`.execute(db);
  await close();
  const took = async (question: string) => {
    const started = performance.now();
    expect(await sourcesFor(reader, question, id)).toEqual([]);
    return performance.now() - started;
  };
  // Until the passages are in memory and the search code has been compiled.
  for (let i = 0; i < 20; i++) await took(i % 2 === 0 ? "zirconium merger" : "vanadium lawsuit");
  const [hidden, nothing] = [[] as number[], [] as number[]];
  for (let i = 0; i < TURNS; i++) {
    // Alternating, so that other load on the machine affects both alike.
    const first = i % 2 === 0;
    if (first) hidden.push(await took("zirconium merger"));
    nothing.push(await took("vanadium lawsuit"));
    if (!first) hidden.push(await took("zirconium merger"));
  }
  const median = (of: readonly number[]) => of.toSorted((a, b) => a - b)[TURNS / 2] ?? 0;
  const told = larger(hidden, nothing);
  console.log(`held back ${median(hidden).toFixed(1)} ms, nothing there ${median(nothing).toFixed(1)} ms, told apart ${told.toFixed(2)}`);
  // 0.5 means no difference; chance alone deviates by 0.04 here.
  expect(Math.abs(told - 0.5)).toBeLessThan(0.2);
  expect(await sourcesFor(reader, "garden", id)).toHaveLength(50);
});
