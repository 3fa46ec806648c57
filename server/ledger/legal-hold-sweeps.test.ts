import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { removeDirectory } from "../../tests/support/gateway.ts";
import { storedBytes } from "../../tests/support/records/stored-bytes.ts";
import { endFiles, removeBytes } from "../directory/files/file-upkeep.ts";
import { systemClock } from "../kernel/clock.ts";
import { pruneTasks } from "../store/agents/agent-tasks.ts";
import { deleteEndedBatchJob, sweepBatchJobs } from "../store/batch/batch-jobs.ts";
import { sweepVideoJobs } from "../store/batch/video-jobs.ts";
import { openBlobDirectory } from "../store/files/blob-directory.ts";
import type { BlobStore } from "../store/files/blobs.ts";
import { deleteFiles } from "../store/files/files.ts";

/** What background work leaves alone of a tenant under a legal hold, also of one that is set while the work runs. */

let database: TestDatabase;
let dataDir: string;
let blobs: BlobStore;
const groups: Record<string, string> = { held: crypto.randomUUID(), free: crypto.randomUUID() };

beforeAll(async () => {
  database = await testDatabase();
  dataDir = await mkdtemp(join(tmpdir(), "gatehouse-test-"));
  blobs = await openBlobDirectory(join(dataDir, "files"));
  const { db } = database;
  const retention = JSON.stringify({ body_days: 1, log_days: 5, run_days: 1, file_days: 1 });
  for (const [tenant, group] of Object.entries(groups)) {
    await sql`INSERT INTO tenants (id, name, data_retention) VALUES (${tenant}, ${tenant}, ${retention})`.execute(db);
    await sql`INSERT INTO resource_groups (id, tenant_id, name) VALUES (${group}, ${tenant}, 'g')`.execute(db);
    await sql`INSERT INTO agents (id, tenant_id, name, card_name, direction) VALUES (${tenant}, ${tenant}, 'a', ${tenant}, 'outbound')`.execute(
      db,
    );
  }
});
afterAll(async () => {
  await database.close();
  await removeDirectory(dataDir);
});

const hold = (reason: string | null) => sql`UPDATE tenants SET legal_hold = ${reason} WHERE id = 'held'`.execute(database.db);
const ownersOf = async (table: string) =>
  (await sql<{ of: string }>`SELECT tenant_id AS of FROM ${sql.table(table)} ORDER BY 1`.execute(database.db)).rows.map(({ of }) => of);

/** A batch job, a video and an agent's task of each tenant, all of them long over. */
async function leave(): Promise<void> {
  const { db } = database;
  for (const [tenant, group] of Object.entries(groups)) {
    await sql`INSERT INTO batch_jobs (id, tenant_id, resource_group_id, status, endpoint, completion_window, request_id, client_ip, created_at, ended_at, expires_at)
      VALUES (${`b-${tenant}`}, ${tenant}, ${group}, 'completed', '/v1/chat/completions', '24h', 'r', '', now(), now() - interval '9 days', now())`.execute(
      db,
    );
    await sql`INSERT INTO video_jobs (id, tenant_id, resource_group_id, status, model_id, model, provider_key, prices, held_micro_usd, look_at, request_id,
        client_ip, created_at, updated_at, expires_at, ended_at, settled_at)
      VALUES (${`v-${tenant}`}, ${tenant}, ${group}, 'completed', 'm', 'm', 'p', '{}', 0, now(), 'r', '', now(), now(), now(), now() - interval '9 days', now())`.execute(
      db,
    );
    await sql`INSERT INTO agent_tasks (tenant_id, agent_id, id, context_id, owner_kind, owner_id, resource_group_id, state, status_at, root_task_id, depth,
        protocol_version, updated_at)
      VALUES (${tenant}, ${tenant}, 't', 'c', 'key', 'k', ${group}, 'completed', now(), 'r', 1, '1.0', now() - interval '9 days')`.execute(
      db,
    );
  }
}

test("batch jobs, videos and agents' tasks of a tenant under a hold stay, and go when the hold ends", async () => {
  await leave();
  await hold("case 17");
  const sweep = async () => {
    await Promise.all([sweepBatchJobs(database.db), sweepVideoJobs(database.db), pruneTasks(database.db)]);
    return Promise.all(["batch_jobs", "video_jobs", "agent_tasks"].map(ownersOf));
  };
  expect(await sweep()).toEqual([["held"], ["held"], ["held"]]);
  const owner = { tenantId: "held", groupId: groups["held"] ?? "", userId: null };
  expect(await deleteEndedBatchJob(database.db, owner, "b-held")).toBe("held");
  expect(await ownersOf("batch_jobs")).toEqual(["held"]);
  await hold(null);
  expect(await sweep()).toEqual([[], [], []]);
});

test("a file that its owner deletes under a hold is gone for them, and its bytes stay until the hold ends", async () => {
  const { db } = database;
  const stored = () => storedBytes(dataDir);
  const write = async (key: string) =>
    blobs.write(
      key,
      (async function* () {
        yield Buffer.from("Dear all");
      })(),
    );
  for (const [tenant, group] of Object.entries(groups)) {
    await write(`file-${tenant}`);
    await sql`INSERT INTO files (id, tenant_id, resource_group_id, kind, mime_type, size_bytes, content_hash, created_at, directory)
      VALUES (${`file-${tenant}`}, ${tenant}, ${group}, 'document', 'text/plain', 8, '-', now(), ${blobs.directory})`.execute(db);
  }
  await hold("case 18");
  const upkeep = async () => {
    await endFiles({ db, clock: systemClock() });
    await removeBytes({ db, blobs });
  };
  for (const [tenantId, groupId] of Object.entries(groups))
    expect(await deleteFiles(db, { tenantId, groupId, userId: null }, { id: `file-${tenantId}` }, new Date())).toHaveLength(1);
  await upkeep();
  expect(await stored()).toEqual(["file-held"]);
  // Longer ago than the tenant keeps rows: the record stays too.
  await sql`UPDATE files SET deleted_at = now() - interval '9 days'`.execute(db);
  await upkeep();
  expect([await stored(), await ownersOf("files")]).toEqual([["file-held"], ["held"]]);
  const { rows } = await sql`SELECT FROM blobs_to_remove WHERE due_at <= now()`.execute(db);
  expect(rows).toEqual([]);
  await hold(null);
  await upkeep();
  await upkeep();
  expect([await stored(), await ownersOf("files")]).toEqual([[], []]);
  expect((await sql`SELECT FROM blobs_to_remove`.execute(db)).rows).toEqual([]);
});
