import type { Clock } from "../../kernel/clock.ts";
import type { Database } from "../../store/database.ts";
import {
  answerById,
  answerByKey,
  type CacheOf,
  pruneAnswers,
  storeAnswer,
  type StoredAnswerRow,
  vectorsOf,
} from "../../store/models/semantic-cache-entries.ts";

const MAX_OF_A_CONFIG = 100_000;

/** A stored answer; its content is opaque here. */
export interface StoredAnswer {
  readonly answer: unknown;
  /** The gateway's name of the model that gave it. */
  readonly modelName: string;
  /** Input and output tokens it used. */
  readonly tokens: number;
  /** Epoch milliseconds. */
  readonly storedAt: number;
  /** When it expires, epoch milliseconds. */
  readonly until: number;
}

export interface StoredVector {
  readonly id: string;
  readonly vector: Int8Array;
  /** Epoch milliseconds. */
  readonly until: number;
}

export interface NewAnswer {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly exactKey: string;
  readonly modelId: string;
  readonly modelName: string;
  readonly answer: unknown;
  readonly tokens: number;
  readonly callId: string;
  readonly endUserId: string | null;
  readonly apiKeyId: string | null;
  /** Seconds; null disables exact matches. */
  readonly exactTtl: number | null;
  readonly semantic: { readonly space: string; readonly vector: Int8Array; readonly ttl: number } | null;
}

/** The stored answers of all processes. Every query is scoped to a tenant and a configuration. */
export class StoredAnswers {
  private readonly db: Database;
  private readonly clock: Clock;

  constructor(db: Database, clock: Clock) {
    this.db = db;
    this.clock = clock;
  }

  async byKey(of: CacheOf, exactKey: string): Promise<StoredAnswer | null> {
    const row = await answerByKey(this.db, of, exactKey, this.now());
    return row === undefined ? null : read(row, row.exact_until);
  }

  async byId(of: CacheOf, vector: StoredVector): Promise<StoredAnswer | null> {
    const row = await answerById(this.db, of, vector.id, this.now());
    return row === undefined ? null : read(row, new Date(vector.until));
  }

  /** Vectors of a space stored after the ID `after` ("" for all): newest first, at most `limit`. */
  async vectors(of: CacheOf, space: string, after: string, limit: number): Promise<StoredVector[]> {
    const rows = await vectorsOf(this.db, of, space, after, limit, this.now());
    return rows.map(({ id, embedding, semantic_until: until }) => ({
      id,
      vector: new Int8Array(embedding.buffer.slice(embedding.byteOffset, embedding.byteOffset + embedding.byteLength) as ArrayBuffer),
      until: until.getTime(),
    }));
  }

  /** Does nothing if the configuration's generation has changed. */
  async store(of: CacheOf, generation: string, answer: NewAnswer): Promise<void> {
    const { semantic, id, at: now } = answer;
    await storeAnswer(this.db, generation, {
      id,
      tenant_id: of.tenantId,
      config_id: of.configId,
      exact_key: answer.exactKey,
      space: semantic?.space ?? null,
      embedding: semantic === null ? null : Buffer.from(semantic.vector.buffer, semantic.vector.byteOffset, semantic.vector.byteLength),
      model_id: answer.modelId,
      model_name: answer.modelName,
      answer: JSON.stringify(answer.answer),
      tokens: answer.tokens,
      call_id: answer.callId,
      end_user_id: answer.endUserId,
      api_key_id: answer.apiKeyId,
      exact_until: answer.exactTtl === null ? null : new Date(now + answer.exactTtl * 1000),
      semantic_until: semantic === null ? null : new Date(now + semantic.ttl * 1000),
      created_at: new Date(now),
    });
  }

  prune(): Promise<void> {
    return pruneAnswers(this.db, MAX_OF_A_CONFIG);
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}

function read(row: StoredAnswerRow, until: Date): StoredAnswer {
  return { answer: row.answer, modelName: row.model_name, tokens: row.tokens, storedAt: row.created_at.getTime(), until: until.getTime() };
}
