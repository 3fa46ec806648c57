import { expect, test } from "bun:test";
import { readVectors } from "./embeddings-reply.ts";

const answer = (...data: unknown[]) => readVectors({ data, usage: { prompt_tokens: 3 } } as never);

test("embedding vectors are returned in the order of the texts", () => {
  expect(answer({ index: 1, embedding: [2] }, { index: 0, embedding: [1, 1.5] })).toEqual({ vectors: [[1, 1.5], [2]], inputTokens: 3 });
  expect(answer({ embedding: [1] })).toEqual({ vectors: [[1]], inputTokens: 3 });
});

test.each([
  [[{ index: 0, embedding: [1, "words that a caller would read"] }]],
  [[{ index: 0, embedding: [1, null] }]],
  [[{ index: 0, embedding: "AAAA" }]],
  [[{ index: 4_294_967_294, embedding: [1] }]],
  [[{ index: -1, embedding: [1] }]],
  [
    [
      { index: 0, embedding: [1] },
      { index: 0, embedding: [2] },
    ],
  ],
  [[7]],
])("an invalid embedding vector or index makes the answer unreadable: %j", (data) => expect(answer(...data)).toBeNull());
