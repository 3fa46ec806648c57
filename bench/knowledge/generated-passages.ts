import { uuid } from "../../server/kernel/ids.ts";
import { signsOf, toBytes } from "../../server/directory/knowledge/vectors.ts";
import { type Database, poolOf } from "../../server/store/database.ts";

export const DIMENSIONS = 1_024;
const TOPICS = 500;
const WORDS = 50_000;
const WORDS_A_PASSAGE = 250;
const ROWS_AT_ONCE = 500;

/** The same numbers in every run. */
export function drawing(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const SYLLABLES = [
  "ba",
  "con",
  "der",
  "fi",
  "gra",
  "hel",
  "in",
  "jo",
  "kat",
  "lum",
  "mor",
  "nes",
  "op",
  "pra",
  "qui",
  "rol",
  "sto",
  "tan",
  "ur",
  "ver",
];

/** The `rank`-th word of a language that nobody speaks. */
function wordOf(rank: number): string {
  let word = "";
  for (let rest = rank + 20; rest > 0; rest = Math.floor(rest / SYLLABLES.length)) word += SYLLABLES[rest % SYLLABLES.length];
  return word;
}

/** Words as often as words are: the tenth most common a tenth as often as the first. */
const drawnWord = (random: () => number) => wordOf(Math.floor(WORDS ** random()) - 1);

export const textOf = (random: () => number, words: number) => Array.from({ length: words }, () => drawnWord(random)).join(" ");

const noise = (random: () => number) => Float32Array.from({ length: DIMENSIONS }, () => random() + random() + random() - 1.5);

/** Topics, documents about one of them and passages about one thing of their document: nearest neighbours are hard to tell apart. */
export class GeneratedPassages {
  readonly topics: readonly Float32Array[];
  private readonly random: () => number;

  constructor(seed: number) {
    this.random = drawing(seed);
    this.topics = Array.from({ length: TOPICS }, () => noise(this.random));
  }

  near(vector: Float32Array, distance: number): Float32Array {
    const by = noise(this.random);
    return vector.map((value, i) => value + distance * (by[i] as number));
  }

  async fill(db: Database, baseId: string, modelId: string, documents: number, passages: number): Promise<void> {
    const each = Math.ceil(passages / documents);
    let rows: unknown[][] = [];
    const write = async () => {
      const columns = rows[0]?.map((_, i) => rows.map((row) => row[i])) ?? [];
      if (rows.length > 0)
        await poolOf(db).query(
          `INSERT INTO knowledge_chunks (document_id, ordinal, knowledge_base_id, tenant_id, heading, body, tokens, digest, lexemes,
             embedding_model_id, vector, signs)
           SELECT r.document_id, r.ordinal, '${baseId}', 'default', '', r.body, 400, md5(r.body), to_tsvector('english', r.body), '${modelId}',
             r.vector, r.signs::bit varying
             FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::bytea[], $5::text[]) AS r (document_id, ordinal, body, vector, signs)`,
          columns,
        );
      rows = [];
    };
    for (let made = 0, number = 0; made < passages; number++) {
      const id = uuid();
      await poolOf(db).query(
        `INSERT INTO knowledge_documents (id, knowledge_base_id, tenant_id, name, kind, content, digest, size_bytes, status, chunk_count)
         VALUES ($1, $2, 'default', $3, 'text', '', $3, 0, 'ready', $4)`,
        [id, baseId, `document-${number}`, each],
      );
      const about = this.near(this.topics[number % TOPICS] as Float32Array, 0.7);
      for (let ordinal = 0; ordinal < each && made < passages; ordinal++, made++) {
        const vector = this.near(about, 0.7);
        rows.push([id, ordinal, textOf(this.random, WORDS_A_PASSAGE), toBytes(vector), signsOf(vector)]);
        if (rows.length === ROWS_AT_ONCE) await write();
      }
    }
    await write();
    await poolOf(db).query("ANALYZE knowledge_documents, knowledge_chunks");
  }
}
