import { sql } from "kysely";
import type { Database } from "../database.ts";

export interface PassageToHold {
  readonly document_id: string;
  readonly ordinal: number;
  readonly terms: Uint8Array;
  readonly embedding_model_id: string | null;
  /** Four bytes with the number of bits, then eight bits per byte. */
  readonly signs: Uint8Array | null;
}

export async function passagesToHold(db: Database, documentIds: readonly string[]): Promise<PassageToHold[]> {
  const { rows } = await sql<PassageToHold>`
    SELECT c.document_id, c.ordinal, c.terms, c.embedding_model_id, varbit_send(c.signs) AS signs
      FROM knowledge_chunks c WHERE c.document_id = ANY (${documentIds as string[]}::uuid[])
     ORDER BY c.document_id, c.ordinal`.execute(db);
  return rows;
}
