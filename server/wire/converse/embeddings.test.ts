import { describe, expect, test } from "bun:test";
import { writeBedrockEmbeddings } from "./embeddings.ts";
import { readBedrockEmbeddings } from "./read-embeddings.ts";

describe("embeddings for Bedrock", () => {
  test("have one text per call for Titan, and dimensions only from version 2", () => {
    expect(writeBedrockEmbeddings("amazon.titan-embed-text-v2:0", ["a", "b"], 256)).toEqual({
      bodies: [
        { inputText: "a", dimensions: 256 },
        { inputText: "b", dimensions: 256 },
      ],
    });
    expect(writeBedrockEmbeddings("amazon.titan-embed-text-v1", ["a"], null)).toEqual({ bodies: [{ inputText: "a" }] });
    expect(writeBedrockEmbeddings("amazon.titan-embed-text-v1", ["a"], 256)).toHaveProperty("unsupported");
  });

  test("have up to 96 texts per call for Cohere", () => {
    const written = writeBedrockEmbeddings(
      "cohere.embed-multilingual-v3",
      Array.from({ length: 100 }, (_, i) => `text ${i}`),
      null,
    );
    if (!("bodies" in written)) throw new Error(written.unsupported);
    expect(written.bodies.map(({ texts }) => (texts as string[]).length)).toEqual([96, 4]);
    expect(written.bodies[1]).toEqual({
      texts: ["text 96", "text 97", "text 98", "text 99"],
      input_type: "search_document",
      embedding_types: ["float"],
    });
    expect(writeBedrockEmbeddings("us.cohere.embed-v4:0", ["a"], 512)).toEqual({
      bodies: [{ texts: ["a"], input_type: "search_document", embedding_types: ["float"], output_dimension: 512 }],
    });
    expect(writeBedrockEmbeddings("cohere.embed-english-v3", ["a"], 512)).toHaveProperty("unsupported");
  });

  test("are refused for other models, naming the known ones", () => {
    expect(writeBedrockEmbeddings("anthropic.claude-sonnet-4-5", ["a"], null)).toEqual({
      unsupported: expect.stringContaining("Titan and Cohere"),
    });
  });

  test.each([
    [
      { embedding: [0.1, 0.2], inputTextTokenCount: 3 },
      { vectors: [[0.1, 0.2]], inputTokens: 3 },
    ],
    [
      { id: "x", response_type: "embeddings_by_type", embeddings: { float: [[1], [2]] } },
      { vectors: [[1], [2]], inputTokens: null },
    ],
    [
      { embeddings: [[1], [2]], response_type: "embeddings_floats", inputTextTokenCount: 7 },
      { vectors: [[1], [2]], inputTokens: 7 },
    ],
    [{ embeddings: [["x"]] }, null],
    [{ message: "no" }, null],
  ])("are read from %j", (answer, read) => {
    expect(readBedrockEmbeddings(answer)).toEqual(read);
  });
});
