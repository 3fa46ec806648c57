import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { jsonLog } from "../../server/kernel/log.ts";
import { openDataDirectory } from "../../server/store/data-directory.ts";
import { type Database, openDatabase, poolOf } from "../../server/store/database.ts";
import { startEmbeddedPostgres } from "../../server/store/embedded.ts";
import { fromBytes } from "../../server/directory/knowledge/vectors.ts";
import { plainEnvironment } from "../processes/environment.ts";
import { ProcessOutput } from "../processes/process-output.ts";
import { treeOf } from "../processes/process-tree.ts";
import { register, stopOne } from "../processes/registry.ts";
import { Admin } from "../targets/admin.ts";
import { announcedAddresses } from "../targets/announced-addresses.ts";
import { startEmbedder } from "./embedder.ts";
import { drawing, GeneratedPassages, textOf } from "./generated-passages.ts";

/**
 * Searches a knowledge base of generated passages in an embedded PostgreSQL through a gateway's admin API, with a fast embedding model;
 * then uploads and indexes documents. Arguments: documents (10,000), passages (200,000). `--database URL` uses a database filled by an
 * earlier run.
 */
const { values: options, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: { database: { type: "string" }, searches: { type: "string", default: "300" }, environment: { type: "string", multiple: true } },
});
const [DOCUMENTS, PASSAGES, SEARCHES] = [Number(positionals[0] ?? 10_000), Number(positionals[1] ?? 200_000), Number(options.searches)];
const WARMING = 60;
const MAX_WARMING_MS = 180_000;
const COMPARED = 40;
const UPLOADED = 40;
const PASSWORD = "bench-admin-password";
const NAME = "bench";
const LAUNCHER = fileURLToPath(new URL("../../bin/gatehouse.mjs", import.meta.url));

if (options.database !== undefined) await withGateway(options.database);
else {
  const path = mkdtempSync(join(tmpdir(), "gatehouse-bench-knowledge-"));
  const directory = openDataDirectory(path);
  const postgres = await startEmbeddedPostgres({ directory, log: jsonLog("error") });
  try {
    await withGateway(postgres.url);
  } finally {
    await postgres.stop();
    directory.close();
    rmSync(postgres.home, { recursive: true, force: true });
    rmSync(path, { recursive: true, force: true });
  }
}

async function withGateway(url: string): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "gatehouse-bench-knowledge-gateway-"));
  const embedder = startEmbedder();
  const more = Object.fromEntries((options.environment ?? []).map((setting) => setting.split("=", 2) as [string, string]));
  const child = Bun.spawn(["node", LAUNCHER, "start"], {
    cwd: home,
    env: plainEnvironment({
      ...{ DATABASE_URL: url, GW_DATA_DIR: join(home, "data"), GW_RUNTIME_PORT: "0", GW_ADMIN_PORT: "0" },
      ...{ GW_BOOTSTRAP_ADMIN_PASSWORD: PASSWORD, GW_DRAIN_NOTICE_SECONDS: "0", GW_SECRET_KEY: Buffer.alloc(32, 7).toString("base64") },
      ...more,
    }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  register({ name: "gateway", pid: child.pid, exited: child.exited });
  const { db, close } = openDatabase(url, { log: jsonLog("error"), max: 2 });
  try {
    const { control } = await announcedAddresses(new ProcessOutput(child.stdout, child.stderr), 120_000);
    const admin = new Admin(control);
    await admin.login("admin", PASSWORD);
    const base = await knowledgeBase(db, admin, embedder.baseUrl);
    await measureSearches(db, admin, base, embedder, child.pid);
    await measureIndexing(control, admin, base, embedder);
    console.log(`resident memory of the gateway: ${Math.round(residentMiB(child.pid))} MiB`);
  } finally {
    await close();
    await stopOne(child.pid);
    embedder.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

async function knowledgeBase(db: Database, admin: Admin, embedderUrl: string): Promise<string> {
  const { rows } = await poolOf(db).query("SELECT id FROM knowledge_bases WHERE name = $1", [NAME]);
  if (rows[0] !== undefined) {
    await poolOf(db).query("UPDATE providers SET base_url = $1 WHERE provider_key = $2", [embedderUrl, NAME]);
    return rows[0].id;
  }
  const tenant = { tenant_id: "default" };
  await admin.post("/v1/admin/providers", {
    ...{ ...tenant, provider_key: NAME, name: NAME, api_format: "openai", base_url: embedderUrl, api_key: "sk-bench" },
  });
  const { id: groupId } = await admin.post("/v1/admin/resource-groups", { ...tenant, name: NAME, group_type: "team" });
  const { id: modelId } = await admin.post("/v1/admin/llms", {
    ...{ ...tenant, name: NAME, model_name: NAME, mode: "embedding", provider: NAME, enabled: true, group_ids: [groupId] },
  });
  const { id } = await admin.post("/v1/admin/knowledgebases", {
    ...{ ...tenant, name: NAME, embedding_model_id: modelId, group_ids: [groupId] },
  });
  const started = performance.now();
  await new GeneratedPassages(1).fill(db, String(id), String(modelId), DOCUMENTS, PASSAGES);
  console.log(`${PASSAGES} passages of ${DOCUMENTS} documents stored in ${((performance.now() - started) / 1000).toFixed(0)} s`);
  return String(id);
}

interface Found {
  readonly passages: readonly { readonly document_id: string; readonly ordinal: number; readonly vector_rank: number | null }[];
}

async function measureSearches(
  db: Database,
  admin: Admin,
  base: string,
  embedder: ReturnType<typeof startEmbedder>,
  pid: number,
): Promise<void> {
  const random = drawing(Date.now());
  const made = new GeneratedPassages(1);
  const { rows } = await poolOf(db).query(
    "SELECT vector, body FROM knowledge_chunks TABLESAMPLE SYSTEM (2) WHERE knowledge_base_id = $1 AND vector IS NOT NULL LIMIT 500",
    [base],
  );
  // Questions close to a passage, sharing some of its words.
  const questions = Array.from({ length: SEARCHES + WARMING }, (_, i) => {
    const { vector, body } = rows[i % rows.length] as { vector: Uint8Array; body: string };
    const words = body.split(" ");
    const text = `${Array.from({ length: 4 }, () => words[Math.floor(random() * words.length)]).join(" ")} ${textOf(random, 5)}`;
    embedder.give(text, made.near(fromBytes(vector), 0.8));
    return { text, near: made.near(fromBytes(vector), 0.8) };
  });
  for (const { text, near } of questions) embedder.give(text, near);
  const ask = (query: string) => admin.post(`/v1/admin/knowledgebases/${base}/search`, { query, top_k: 5 }) as unknown as Promise<Found>;
  const timed = async (text: string) => {
    const started = performance.now();
    await ask(text);
    return performance.now() - started;
  };
  const began = performance.now();
  const first = await timed(questions[0]?.text ?? "");
  // Until the passages are in memory, searches use the database, which slows down loading them.
  while ((await timed(questions[1]?.text ?? "")) > first / 4 && performance.now() - began < MAX_WARMING_MS) await Bun.sleep(2_000);
  console.log(`the first search: ${first.toFixed(0)} ms; quick after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  for (const { text } of questions.slice(SEARCHES)) await ask(text);
  const [times, before] = [[] as number[], cpuMs(pid)];
  for (const { text } of questions.slice(0, SEARCHES)) times.push(await timed(text));
  const cpu = (cpuMs(pid) - before) / SEARCHES;
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1);
  console.log(
    `${SEARCHES} searches, ms: least ${at(0)}, p50 ${at(0.5)}, p95 ${at(0.95)}, most ${at(1)}; gateway's processor time a search ${cpu.toFixed(1)}`,
  );
  console.log(`load of the machine: ${readFileSync("/proc/loadavg", "utf8").trim()}`);
  await compare(db, base, questions.slice(0, COMPARED), ask);
}

/** Recall: how many of the true ten nearest, computed from all vectors, are among the search's first ten. */
async function compare(
  db: Database,
  base: string,
  questions: readonly { readonly text: string; readonly near: Float32Array }[],
  ask: (query: string) => Promise<Found>,
): Promise<void> {
  const nearest = questions.map(() => [] as { key: string; cosine: number }[]);
  const ids = (await poolOf(db).query("SELECT id FROM knowledge_documents WHERE knowledge_base_id = $1", [base])).rows as { id: string }[];
  for (let from = 0; from < ids.length; from += 250) {
    const { rows } = await poolOf(db).query(
      "SELECT document_id, ordinal, vector FROM knowledge_chunks WHERE document_id = ANY ($1) AND vector IS NOT NULL",
      [ids.slice(from, from + 250).map(({ id }) => id)],
    );
    for (const { document_id: id, ordinal, vector: bytes } of rows as { document_id: string; ordinal: number; vector: Uint8Array }[]) {
      const vector = fromBytes(bytes);
      const length = Math.hypot(...vector);
      for (const [i, { near }] of questions.entries()) {
        let dot = 0;
        for (let c = 0; c < vector.length; c++) dot += (vector[c] as number) * (near[c] as number);
        nearest[i]?.push({ key: `${id} ${ordinal}`, cosine: dot / length });
      }
    }
    for (const [i, found] of nearest.entries()) nearest[i] = found.toSorted((a, b) => b.cosine - a.cosine).slice(0, 10);
  }
  let found = 0;
  for (const [i, { text }] of questions.entries()) {
    const { passages } = await ask(text);
    const top = new Set(
      passages.filter(({ vector_rank: rank }) => rank !== null && rank <= 10).map(({ document_id: id, ordinal }) => `${id} ${ordinal}`),
    );
    found += nearest[i]?.filter(({ key }) => top.has(key)).length ?? 0;
  }
  console.log(`of the ten nearest by all vectors, found: ${((found / questions.length) * 10).toFixed(1)} %`);
}

async function measureIndexing(control: string, admin: Admin, base: string, embedder: ReturnType<typeof startEmbedder>): Promise<void> {
  const random = drawing(Date.now());
  const { access_token: token } = await admin.post("/v1/admin-users/system/login", { username: "admin", password: PASSWORD });
  const [started, before] = [performance.now(), embedder.texts()];
  const ids: string[] = [];
  for (let number = 0; number < UPLOADED; number++) {
    const form = new FormData();
    form.set("file", new File([Array.from({ length: 20 }, () => textOf(random, 220)).join("\n\n")], `${crypto.randomUUID()}.txt`));
    const answer = await fetch(`${control}/v1/admin/knowledgebases/${base}/documents`, {
      method: "POST",
      headers: { authorization: `Bearer ${token as string}` },
      body: form,
    });
    if (answer.status !== 202) throw new Error(`an upload was answered with ${answer.status}: ${await answer.text()}`);
    ids.push(((await answer.json()) as { id: string }).id);
  }
  const state = async (id: string) => {
    const answer = await fetch(`${control}/v1/admin/knowledgebases/${base}/documents/${id}`, {
      headers: { authorization: `Bearer ${token as string}` },
    });
    return (await answer.json()) as { status: string; reason: string | null; chunk_count: number };
  };
  let passages = 0;
  for (const id of ids)
    for (;;) {
      const { status, reason, chunk_count: count } = await state(id);
      if (status === "failed") throw new Error(`a document was not indexed: ${reason}`);
      if (status !== "ready") {
        await Bun.sleep(50);
        continue;
      }
      passages += count;
      break;
    }
  const seconds = (performance.now() - started) / 1000;
  console.log(
    `${UPLOADED} documents of ${passages} passages uploaded and indexed in ${seconds.toFixed(1)} s: ${(passages / seconds).toFixed(0)} passages a second (${embedder.texts() - before} texts embedded)`,
  );
}

/** CPU time of the process and its descendants. */
function cpuMs(pid: number): number {
  let ticks = 0;
  for (const { pid: one } of treeOf(pid)) {
    const fields = readFileSync(`/proc/${one}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks * 10;
}

function residentMiB(pid: number): number {
  return treeOf(pid).reduce(
    (sum, { pid: one }) => sum + Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${one}/status`, "utf8"))?.[1] ?? 0) / 1024,
    0,
  );
}
