import { createHash } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import pg from "pg";
import { reasonOf } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { type Database, poolOf } from "../database.ts";

/** With fewer passages, comparing them one by one is about as fast. */
const MIN_PASSAGES = 20_000;
/** The first pgvector version that can index bits by distance. */
const MIN_VERSION = [0, 7] as const;
/** Arbitrary, but the same in every process that builds indexes. */
const LOCK = 5_090_173_312;
const MEMORY = "256MB";
const PREFIX = "kb_signs_";

/** Vectors that can be compared with each other: of one knowledge base, one model and one length. */
export interface SignSpace {
  readonly baseId: string;
  readonly modelId: string;
  readonly bits: number;
}

export function signIndexName({ baseId, modelId, bits }: SignSpace): string {
  const model = createHash("sha256").update(modelId).digest("hex").slice(0, 8);
  return `${PREFIX}${baseId.replaceAll("-", "")}_${model}_${bits}`;
}

/** The predicate of the space's partial index. The planner uses the index only for queries with the same constants. */
export const inSignSpace = ({ baseId, modelId, bits }: SignSpace) =>
  sql.raw(
    `knowledge_base_id = ${pg.escapeLiteral(baseId)}::uuid AND embedding_model_id = ${pg.escapeLiteral(modelId)}::uuid AND length(signs) = ${Number(bits)}`,
  );

/** Names of the indexes that can be searched. */
export async function readySignIndexes(db: Database): Promise<ReadonlySet<string>> {
  return new Set([...(await indexesThere(db))].filter(([, whole]) => whole).map(([name]) => name));
}

/** Index names, and whether each is valid: one that is being built, or whose build was interrupted, is not. */
async function indexesThere(db: Database): Promise<Map<string, boolean>> {
  const { rows } = await sql<{ relname: string; indisvalid: boolean }>`
    SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE i.indrelid = 'knowledge_chunks'::regclass AND starts_with(c.relname, ${PREFIX})`.execute(db);
  return new Map(rows.map(({ relname, indisvalid }) => [relname, indisvalid]));
}

/**
 * If the database has pgvector, each large knowledge base gets its own index of sign bits, so that a search need not scan all passages.
 * Separate indexes keep one base's size from slowing down another's searches, or from showing in their timing.
 */
export class KnowledgeSignIndexes {
  private readonly db: Database;
  private readonly log: Log;
  private readonly leastPassages: number;
  private building: pg.Client | undefined;
  private isReported = false;
  private stopped = false;

  constructor(db: Database, log: Log, leastPassages = MIN_PASSAGES) {
    this.db = db;
    this.log = log;
    this.leastPassages = leastPassages;
  }

  /** Builds missing indexes and drops those no longer needed, in one process at a time. */
  async keep(): Promise<void> {
    const wanted = await this.wanted();
    if (isKept(wanted, await indexesThere(this.db))) return;
    if (wanted.length > 0 && !(await this.canIndex())) return;
    // A separate connection: a build takes minutes, and closing the pool must not wait for it.
    const client = new pg.Client(poolOf(this.db).options);
    client.on("error", () => undefined);
    this.building = client;
    try {
      await client.connect();
      const { rows } = await client.query("SELECT pg_try_advisory_lock($1) AS mine", [LOCK]);
      if (rows[0]?.mine === true) await build(this.db, client, wanted);
    } catch (error) {
      if (!this.stopped) throw error;
    } finally {
      this.building = undefined;
      await client.end();
    }
  }

  /** The database goes on with a build in progress. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.building?.end();
  }

  private async wanted(): Promise<SignSpace[]> {
    const { rows } = await sql<{ baseId: string; modelId: string }>`
      SELECT b.id AS "baseId", b.embedding_model_id AS "modelId" FROM knowledge_bases b JOIN knowledge_documents d ON d.knowledge_base_id = b.id
       WHERE b.embedding_model_id IS NOT NULL GROUP BY b.id HAVING sum(d.chunk_count) >= ${this.leastPassages}`.execute(this.db);
    const spaces: SignSpace[] = [];
    for (const { baseId, modelId } of rows) {
      const { rows: found } = await sql<{ bits: number }>`
        SELECT length(signs) AS bits FROM knowledge_chunks WHERE knowledge_base_id = ${baseId} AND embedding_model_id = ${modelId}
           AND signs IS NOT NULL LIMIT 1`.execute(this.db);
      spaces.push(...found.map(({ bits }) => ({ baseId, modelId, bits })));
    }
    return spaces;
  }

  private async canIndex(): Promise<boolean> {
    const { rows } = await sql<{ default_version: string; installed_version: string | null }>`
      SELECT default_version, installed_version FROM pg_available_extensions WHERE name = 'vector'`.execute(this.db);
    const [extension] = rows;
    if (extension === undefined || !isRecent(extension.installed_version ?? extension.default_version)) return false;
    if (extension.installed_version !== null) return true;
    try {
      await sql`CREATE EXTENSION IF NOT EXISTS vector`.execute(this.db);
      return true;
    } catch (error) {
      if (!this.isReported) this.log.info("pgvector_not_installed", { reason: reasonOf(error) });
      this.isReported = true;
      return false;
    }
  }
}

function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > MIN_VERSION[0] || (major === MIN_VERSION[0] && minor >= MIN_VERSION[1]);
}

const isKept = (wanted: readonly SignSpace[], there: ReadonlyMap<string, boolean>) =>
  wanted.length === there.size && wanted.every((space) => there.get(signIndexName(space)) === true);

async function build(db: Database, client: pg.Client, wanted: readonly SignSpace[]): Promise<void> {
  const there = await indexesThere(db);
  const run = (statement: RawBuilder<unknown>) => client.query(statement.compile(db).sql);
  await run(sql.raw(`SET maintenance_work_mem = '${MEMORY}'`));
  const names = new Set(wanted.map(signIndexName));
  for (const [name, whole] of there) if (!whole || !names.has(name)) await run(sql`DROP INDEX CONCURRENTLY IF EXISTS ${sql.id(name)}`);
  for (const space of wanted)
    await run(sql`CREATE INDEX CONCURRENTLY IF NOT EXISTS ${sql.id(signIndexName(space))} ON knowledge_chunks
      USING hnsw ((signs::bit(${sql.lit(space.bits)})) bit_hamming_ops) WHERE ${inSignSpace(space)}`);
}
