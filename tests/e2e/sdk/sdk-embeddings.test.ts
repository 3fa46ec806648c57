import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { embed } from "ai";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CLIENTS, PROVIDERS } from "../../support/vendors/matrix.ts";
import { COUNTED, EMBEDDED, VECTORS } from "../../support/vendors/scene.ts";
import { PROMPT } from "../../support/vendors/sdk.ts";
import { startSdkWorld, type SdkWorld } from "../../support/vendors/sdk-world.ts";

/** Embeddings and token counts as the official clients request them. */
let world: SdkWorld;

beforeAll(async () => {
  world = await startSdkWorld();
});

afterAll(() => world.end());

describe("embeddings by the openai client", () => {
  const input = ["one", "two"];

  test.each(["openai", "azure", "gemini"])("come from %s with the same values as floats and as base64", async (provider) => {
    const { openai } = world.clients;
    const model = `sdk-${provider}-embed`;
    const plain = await openai.embeddings.create({ model, input, encoding_format: "float" });
    // Without an encoding format, the client requests base64 and decodes it.
    const packed = await openai.embeddings.create({ model, input });
    expect(plain.data.map(({ embedding }) => embedding)).toEqual(VECTORS as number[][]);
    expect(packed.data.map(({ embedding }) => [...embedding])).toEqual(VECTORS as number[][]);
    expect(plain.data.map(({ index }) => index)).toEqual([0, 1]);
    const bytes = await openai.embeddings.create({ model, input: "one", encoding_format: "base64" });
    const [first] = bytes.data as unknown as { embedding: string }[];
    expect([...new Float32Array(Uint8Array.from(Buffer.from(first?.embedding as string, "base64")).buffer)]).toEqual([
      ...(VECTORS[0] as number[]),
    ]);
  });

  test("come from bedrock one text at a time, in order", async () => {
    const { data, usage } = await world.clients.openai.embeddings.create({ model: "sdk-bedrock-embed", input });
    expect(data.map(({ embedding }) => [...embedding])).toEqual([[...(VECTORS[0] as number[])], [...(VECTORS[0] as number[])]]);
    expect(usage.prompt_tokens).toBe(6);
  });

  test("come from the built-in echo, the same in both encodings and for the same text", async () => {
    const { openai } = world.clients;
    const plain = await openai.embeddings.create({ model: "sdk-echo-embed", input, encoding_format: "float" });
    const packed = await openai.embeddings.create({ model: "sdk-echo-embed", input });
    expect(plain.data[0]?.embedding.length).toBeGreaterThan(0);
    expect(packed.data.map(({ embedding }) => [...embedding])).toEqual(plain.data.map(({ embedding }) => [...new Float32Array(embedding)]));
    expect(plain.data[0]?.embedding).not.toEqual(plain.data[1]?.embedding as number[]);
  });
});

describe("embeddings by google's clients", () => {
  // Providers that embed one text at a time return the first vector for each.
  const providers = [
    ["openai", VECTORS],
    ["azure", VECTORS],
    ["gemini", VECTORS],
    ["bedrock", [VECTORS[0], VECTORS[0]]],
  ] as const;

  test.each(providers)("come from %s, for one and for several texts", async (id, vectors) => {
    const model = `sdk-${id}-embed`;
    const config = { taskType: "RETRIEVAL_QUERY", ...(id === "bedrock" ? {} : { outputDimensionality: 3 }) };
    const { embeddings } = await world.clients.google.models.embedContent({ model, contents: ["one", "two"], config });
    expect(embeddings?.map(({ values }) => values)).toEqual(vectors as never);
    const google = createGoogleGenerativeAI({ baseURL: `${world.gateway.runtimeUrl}/v1beta`, apiKey: world.apiKey });
    // A single text is requested at a different path.
    const { embedding } = await embed({ model: google.embedding(model), value: "one", maxRetries: 0 });
    expect(embedding).toEqual(vectors[0] as never);
  });

  test("name the parameters dropped for other vendors' models in a header", async () => {
    const ask = (id: string) =>
      fetch(`${world.gateway.runtimeUrl}/v1beta/models/sdk-${id}-embed:embedContent`, {
        method: "POST",
        headers: { "x-goog-api-key": world.apiKey, "content-type": "application/json" },
        body: JSON.stringify({ content: { parts: [{ text: "one" }] }, taskType: "RETRIEVAL_QUERY", title: "A title" }),
      });
    expect((await ask("openai")).headers.get("x-gw-dropped-parameters")).toBe("taskType, title");
    expect((await ask("gemini")).headers.get("x-gw-dropped-parameters")).toBeNull();
    expect(await (await ask("gemini")).json()).toEqual({ embedding: { values: VECTORS[0] }, usageMetadata: EMBEDDED });
  });

  test("have the usage that Google's models report", async () => {
    const { google, openai } = world.clients;
    const model = "sdk-gemini-embed";
    expect((await google.models.embedContent({ model, contents: ["one", "two"] })).usageMetadata).toMatchObject(EMBEDDED);
    expect((await openai.embeddings.create({ model, input: "one" })).usage.prompt_tokens).toBe(EMBEDDED.promptTokenCount);
  });

  test("are refused in google's own error format", async () => {
    const answer = await fetch(`${world.gateway.runtimeUrl}/v1beta/models/sdk-openai-embed:batchEmbedContents`, {
      method: "POST",
      headers: { "x-goog-api-key": world.apiKey, "content-type": "application/json" },
      body: JSON.stringify({ requests: [{ content: { parts: [{ text: 7 }] } }] }),
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { status: "INVALID_ARGUMENT", message: expect.stringContaining("requests[0].content.parts[0].text") },
    });
  });
});

describe("token counts", () => {
  const providers = PROVIDERS.map(({ id, apiFormat }) => [id, apiFormat] as const);

  test.each(providers)(
    "by both anthropic clients for %s are the vendor's for Claude in its own format, else marked as an estimate",
    async (id, apiFormat) => {
      const asked = { model: `sdk-${id}`, messages: [{ role: "user" as const, content: PROMPT }] };
      for (const client of [world.clients.anthropicOne, world.clients.anthropicZero]) {
        const { data, response } = await client.messages.countTokens(asked).withResponse();
        const native = apiFormat === "anthropic" || id === "vertex-claude";
        expect(response.headers.get("x-gw-token-count")).toBe(native ? null : "estimate");
        if (native) expect(data.input_tokens).toBe(COUNTED);
        else expect(data.input_tokens).toBeWithin(1, 20);
      }
    },
  );

  test.each(providers)("by the google client for %s are the vendor's for Gemini, else an estimate", async (id, apiFormat) => {
    const { totalTokens } = await world.clients.google.models.countTokens({ model: `sdk-${id}`, contents: PROMPT });
    if (apiFormat === "gemini") expect(totalTokens).toBe(COUNTED);
    else expect(totalTokens).toBeWithin(1, 20);
  });
});

test("every client in the table is installed under its package name", async () => {
  const { devDependencies } = (await import("../../package.json")) as { devDependencies: Record<string, string> };
  const installed = new Set(
    Object.entries(devDependencies).map(([name, version]) => /^npm:(.+)@(\d+)\./.exec(version)?.slice(1).join("@") ?? name),
  );
  for (const { packages } of CLIENTS) for (const name of packages) expect(installed).toContain(name);
});
