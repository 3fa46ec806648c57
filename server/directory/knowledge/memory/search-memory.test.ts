import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { PassageMemory, type PackedSigns } from "./passage-memory.ts";
import { bySigns, byWords, visibleTo } from "./search-memory.ts";

let state = 11;
const random = (below: number) => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
  return Math.floor((state / 4_294_967_296) * below);
};

interface Plain {
  readonly id: string;
  readonly principals: readonly string[] | null;
  readonly passages: readonly { readonly words: ReadonlyMap<string, number>; readonly signs: PackedSigns }[];
}

const BITS = 300;
const signs = (): PackedSigns => ({
  bits: BITS,
  words: Uint32Array.from({ length: Math.ceil(BITS / 32) }, (_, i) => (i === 9 ? random(4_096) << 20 : random(2 ** 32)) >>> 0),
});
const termsOf = (words: ReadonlyMap<string, number>) =>
  new Uint8Array(
    Buffer.concat([...words].map(([word, often]) => Buffer.from([...createHash("sha256").update(word).digest().subarray(0, 3), often]))),
  );

function plainDocument(number: number): Plain {
  const passages = Array.from({ length: 1 + random(12) }, () => ({
    words: new Map(Array.from({ length: 5 + random(40) }, () => [`word${Math.floor(random(400) ** 2 / 400)}`, 1 + random(6)])),
    signs: signs(),
  }));
  return { id: `document-${String(number).padStart(6, "0")}`, principals: random(3) === 0 ? null : [`team-${random(6)}`], passages };
}

const put = (memory: PassageMemory, { id, principals, passages }: Plain, changedIn: number) =>
  memory.put(
    id,
    changedIn,
    principals,
    passages.map(({ words, signs: of }, ordinal) => ({ ordinal, terms: termsOf(words), modelId: "model", signs: of })),
  );

const vectorOf = ({ words }: PackedSigns) =>
  Float32Array.from({ length: BITS }, (_, i) => (((words[i >> 5] as number) >>> (31 - (i & 31))) & 1) * 2 - 1);

function bitsSet(of: number): number {
  let count = 0;
  for (let rest = of; rest > 0; rest = Math.floor(rest / 2)) count += rest % 2;
  return count;
}

const differing = (a: PackedSigns, b: PackedSigns) =>
  a.words.reduce((sum, word, i) => sum + bitsSet((word ^ (b.words[i] as number)) >>> 0), 0);

/** A plain BM25 over exactly what the reader may find. */
function expectedByWords(documents: readonly Plain[], asked: readonly string[], limit: number) {
  const all = documents.flatMap(({ id, passages }) => passages.map((passage, ordinal) => ({ id, ordinal, ...passage })));
  const sizeOf = (words: ReadonlyMap<string, number>) => [...words.values()].reduce((sum, often) => sum + often, 0);
  const mean = all.reduce((sum, { words }) => sum + sizeOf(words), 0) / all.length;
  const having = new Map(asked.map((word) => [word, all.filter(({ words }) => words.has(word)).length]));
  const scored = all.map(({ id, ordinal, words }) => {
    const score = asked.reduce((sum, word) => {
      const often = words.get(word) ?? 0;
      const found = having.get(word) as number;
      const worth = Math.log(1 + (all.length - found + 0.5) / (found + 0.5));
      return often === 0 ? sum : sum + (worth * often * 2.2) / (often + 1.2 * (0.25 + (0.75 * sizeOf(words)) / mean));
    }, 0);
    return { id, ordinal, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit);
}

test("search results equal a plain BM25 and Hamming reference over what the reader may read, despite changes", () => {
  const memory = new PassageMemory();
  const documents = new Map<string, Plain>();
  for (let turn = 0; turn < 1_200; turn++) {
    const document = plainDocument(random(500));
    documents.set(document.id, document);
    put(memory, document, turn + 1);
    if (random(4) !== 0) continue;
    const gone = [...documents.keys()][random(documents.size)] as string;
    documents.delete(gone);
    memory.remove(gone);
  }
  expect(memory.documents).toBe(documents.size);
  const alive = [...documents.values()].reduce((sum, { passages }) => sum + passages.length, 0);
  // The memory of removed passages was freed in the meantime.
  expect(memory.document.length).toBeLessThan(alive * 1.4 + 1_000);
  for (let reader = 0; reader < 8; reader++) {
    const principals = reader === 0 ? null : new Set(["*", `team-${reader}`]);
    const theirs = [...documents.values()].filter(
      ({ principals: of }) => principals === null || of === null || of.some((one) => principals.has(one)),
    );
    const visible = visibleTo(memory, principals, null);
    const asked = [`word${random(20)}`, `word${random(400)}`, "word1", "nothing"];
    const words = byWords(memory, visible, asked, 40);
    const expected = expectedByWords(theirs, [...new Set(asked)], 40);
    expect(words.length).toBe(expected.length);
    for (const [i, { score }] of words.entries()) expect(score).toBeCloseTo(expected[i]?.score ?? Number.NaN, 9);
    const ids = new Set(theirs.map(({ id }) => id));
    expect(words.every(({ document_id: id }) => ids.has(id))).toBe(true);

    const question = signs();
    const near = bySigns(memory, visible, { modelId: "model", signs: question, vector: vectorOf(question) }, 25);
    // With components of equal magnitude, the smallest Hamming distance means the largest projection on the question.
    const distances = theirs.flatMap(({ passages }) => passages.map((one) => differing(one.signs, question))).sort((a, b) => a - b);
    expect(near.map(({ score }) => (BITS - score) / 2)).toEqual(distances.slice(0, 25));
    for (const { document_id: id, ordinal, score } of near)
      expect(differing((documents.get(id) as Plain).passages[ordinal]?.signs as PackedSigns, question)).toBe((BITS - score) / 2);
    expect(bySigns(memory, visible, { modelId: "another model", signs: question, vector: vectorOf(question) }, 25)).toEqual([]);
  }
});

test("with many passages, comparing a prefix of the bits first still finds more than 97 % of the nearest", () => {
  const memory = new PassageMemory();
  const all: PackedSigns[] = [];
  const topics = Array.from({ length: 60 }, () => signs());
  const like = (of: PackedSigns): PackedSigns => ({
    bits: BITS,
    // Redraws a third of the bits.
    words: of.words.map((word, i) => {
      const changed = random(2 ** 32) & random(2 ** 32) & ~(i === 9 ? 0xfffff : 0);
      return ((word & ~changed) | (random(2 ** 32) & changed)) >>> 0;
    }),
  });
  for (let number = 0; number < 300; number++) {
    const about = like(topics[number % 60] as PackedSigns);
    const passages = Array.from({ length: 100 }, (_, ordinal) => ({
      ordinal,
      terms: new Uint8Array(),
      modelId: "model",
      signs: like(about),
    }));
    all.push(...passages.map(({ signs: of }) => of));
    memory.put(`document-${number}`, 1, null, passages);
  }
  const visible = visibleTo(memory, null, null);
  let [found, wanted] = [0, 0];
  for (let turn = 0; turn < 10; turn++) {
    const question = like(topics[random(60)] as PackedSigns);
    const nearest = bySigns(memory, visible, { modelId: "model", signs: question, vector: vectorOf(question) }, 100);
    const bound = all.map((one) => differing(one, question)).sort((a, b) => a - b)[99] as number;
    found += nearest.filter(({ score }) => (BITS - score) / 2 <= bound).length;
    wanted += 100;
  }
  expect(found / wanted).toBeGreaterThan(0.97);
});
