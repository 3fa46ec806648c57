import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { JsonObject } from "../../kernel/json-value.ts";
import { readGeminiEmbeddings, writeGeminiEmbeddings } from "./embeddings.ts";
import { readGeminiFault, retryDelaySeconds, retryDetails, rpcStatusOf, writeGeminiFault } from "./fault.ts";

const fixture = (name: string): JsonObject => JSON.parse(readFileSync(new URL(`fixtures/error-${name}.json`, import.meta.url), "utf8"));

describe("errors of Gemini", () => {
  test("are read with the field they name", () => {
    expect(readGeminiFault(400, fixture("argument"))).toEqual({
      status: 400,
      message: "* GenerateContentRequest.contents: contents is not specified",
      code: "INVALID_ARGUMENT",
      param: "contents",
    });
    expect(readGeminiFault(429, fixture("quota"))).toMatchObject({ status: 429, code: "RESOURCE_EXHAUSTED", param: null });
  });

  test("for an invalid API key have the code API_KEY_INVALID", () => {
    expect(readGeminiFault(400, fixture("key")).code).toBe("API_KEY_INVALID");
  });

  test("in a stream take their status from the code, else from the status word, else 502", () => {
    expect(readGeminiFault(0, { error: { code: 503, status: "UNAVAILABLE" } }).status).toBe(503);
    expect(readGeminiFault(0, { error: { status: "DEADLINE_EXCEEDED" } }).status).toBe(504);
    expect(readGeminiFault(0, { error: "boom" })).toMatchObject({ status: 502, message: "boom" });
    expect(readGeminiFault(500, null)).toEqual({ status: 500, message: "the provider reported an error", code: null, param: null });
    expect(readGeminiFault(400, { error: { code: "invalid_request", message: "m" } }).code).toBe("invalid_request");
  });

  test.each([
    [400, "INVALID_ARGUMENT"],
    [401, "UNAUTHENTICATED"],
    [403, "PERMISSION_DENIED"],
    [404, "NOT_FOUND"],
    [413, "INVALID_ARGUMENT"],
    [429, "RESOURCE_EXHAUSTED"],
    [500, "INTERNAL"],
    [503, "UNAVAILABLE"],
    [504, "DEADLINE_EXCEEDED"],
    [529, "UNAVAILABLE"],
    [599, "INTERNAL"],
  ])("with status %i are written as %s", (status, word) => {
    expect(rpcStatusOf(status)).toBe(word);
    expect(writeGeminiFault({ status, message: "m", code: "their_word", param: null })).toEqual({
      error: { code: status, message: "m", status: word },
    });
  });

  test("are read back as written", () => {
    const fault = { status: 400, message: "m", code: "FAILED_PRECONDITION", param: "contents" };
    expect(readGeminiFault(400, writeGeminiFault(fault))).toEqual(fault);
  });

  test("are written with the retry delay where Google's clients look for it", () => {
    const error = { details: [{ code: "rate_limit_exceeded" }, ...retryDetails("7")] };
    expect(retryDelaySeconds({ error })).toBe(7);
    expect(retryDelaySeconds({ error: { details: retryDetails("2678400") } })).toBe(2_678_400);
    expect(retryDelaySeconds({ error: { details: retryDetails("0.5") } })).toBe(0.5);
    expect([retryDetails(undefined), retryDetails("Wed, 21 Oct 2026 07:28:00 GMT")]).toEqual([[], []]);
  });

  test("are read with their retry delay in seconds", () => {
    expect(retryDelaySeconds(fixture("quota"))).toBe(34.074824224);
    expect(retryDelaySeconds([fixture("quota")])).toBe(34.074824224);
    expect(retryDelaySeconds(fixture("argument"))).toBeNull();
    expect(retryDelaySeconds("no")).toBeNull();
  });
});

describe("embeddings for Gemini", () => {
  test("are written as one request per text", () => {
    expect(writeGeminiEmbeddings("gemini-embedding-001", ["a", "b"], 256)).toEqual({
      requests: ["a", "b"].map((text) => ({
        model: "models/gemini-embedding-001",
        content: { parts: [{ text }] },
        outputDimensionality: 256,
      })),
    });
    expect(writeGeminiEmbeddings("models/m", ["a"], null)).toEqual({
      requests: [{ model: "models/m", content: { parts: [{ text: "a" }] } }],
    });
  });

  test("are read in the order of the texts", () => {
    expect(readGeminiEmbeddings({ embeddings: [{ values: [1, 2] }, { values: [3, 4] }] })).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(readGeminiEmbeddings({ embedding: { values: [1] } })).toEqual([[1]]);
    for (const body of [
      {},
      { embeddings: [] },
      { embeddings: [{ values: [] }] },
      { embeddings: [{ values: ["1"] }] },
      { embeddings: [{}] },
    ])
      expect(readGeminiEmbeddings(body)).toBeNull();
  });
});
