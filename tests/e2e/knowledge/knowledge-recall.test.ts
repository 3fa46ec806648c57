import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { type AdminClient, serveModels } from "../../support/worlds/admin.ts";
import { startGramEmbedder } from "../../support/vendors/gram-embedder.ts";
import { settledDocument, uploadTo } from "../../support/worlds/knowledge.ts";
import { startWorld, type World } from "../../support/world.ts";

/**
 * Questions about documents in the public domain, each with the heading that answers it; some are misspelled as people do. The questions
 * were written once, and nothing was tuned to them. Without an embedding model for meaning, vectors only capture spelling.
 */
const FOLDER = new URL("../../corpora/knowledge/", import.meta.url);
const QUESTIONS: readonly (readonly [question: string, heading: string])[] = JSON.parse(
  readFileSync(new URL("questions.json", FOLDER), "utf8"),
);
const FIRST = 5;
let world: World;
let admin: AdminClient;
let embedder: Awaited<ReturnType<typeof startGramEmbedder>>;
let base = "";

beforeAll(async () => {
  [world, embedder] = await Promise.all([startWorld(), startGramEmbedder()]);
  ({ admin } = world);
  const served = await serveModels(admin, embedder.baseUrl, [{ name: "grams", mode: "embedding" }]);
  const made = { tenant_id: "default", name: "library", embedding_model_id: served.models.grams, group_ids: [served.groupId] };
  base = (await admin.post("/v1/admin/knowledgebases", made)).id;
  for (const name of ["constitution.md", "fables.md"]) {
    const { body } = await uploadTo(world.gateway.adminUrl, admin, base, name, readFileSync(new URL(name, FOLDER), "utf8"));
    expect(await settledDocument(admin, base, body.id)).toMatchObject({ status: "ready" });
  }
  // The first search loads the passages into memory, where all others look.
  for (let i = 0; i < 3; i++) await admin.post(`/v1/admin/knowledgebases/${base}/search`, { query: "warming up" });
});
afterAll(async () => {
  await Promise.all([world.end(), embedder.stop()]);
});

interface Shown {
  readonly heading: string;
  readonly lexical_rank: number | null;
  readonly vector_rank: number | null;
}

test("nine of ten questions have their passage among the first five, and the combined search beats words or vectors alone", async () => {
  const found = { together: 0, words: 0, vectors: 0 };
  const missed: string[] = [];
  for (const [query, heading] of QUESTIONS) {
    const { passages } = (await admin.post(`/v1/admin/knowledgebases/${base}/search`, { query })) as { passages: Shown[] };
    const answers = (passage: Shown) => passage.heading.endsWith(` > ${heading}`);
    const among = (rank: (passage: Shown, place: number) => number | null) =>
      passages.some((passage, i) => answers(passage) && (rank(passage, i) ?? Number.POSITIVE_INFINITY) <= FIRST);
    if (among((_, place) => place + 1)) found.together++;
    else missed.push(query);
    if (among(({ lexical_rank: rank }) => rank)) found.words++;
    if (among(({ vector_rank: rank }) => rank)) found.vectors++;
  }
  console.log(`of ${QUESTIONS.length} questions: ${JSON.stringify(found)}; missed: ${missed.join(" | ")}`);
  expect(found.together / QUESTIONS.length).toBeGreaterThanOrEqual(0.9);
  expect(found.together).toBeGreaterThan(found.words);
  expect(found.together).toBeGreaterThan(found.vectors);
});
