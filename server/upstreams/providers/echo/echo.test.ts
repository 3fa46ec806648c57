import { describe, expect, test } from "bun:test";
import { vendorRequest, vendorTarget } from "../../../../tests/support/vendors/fake-vendor.ts";
import type { ProviderReply } from "../provider.ts";
import { echoProvider } from "./echo.ts";

const echo = echoProvider({ now: () => 1_763_712_000_000 });

async function embeddings(body: Record<string, unknown>) {
  const { response } = (await echo.send(
    vendorTarget("echo", {}),
    vendorRequest("embeddings", { body: JSON.stringify(body) }),
  )) as ProviderReply;
  return {
    status: response.status,
    body: (await response.json()) as { data: { index: number; embedding: number[] | string }[]; usage: unknown },
  };
}

const vectors = async (body: Record<string, unknown>) => (await embeddings(body)).body.data.map(({ embedding }) => embedding as number[]);
const dot = (a: readonly number[] = [], b: readonly number[] = []) => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);

describe("echo's embeddings", () => {
  test("are unit vectors, equal for equal texts, near for similar ones", async () => {
    const [a, again, near, far] = await vectors({
      input: ["The cat sat on the mat.", "the CAT sat on the mat", "the cat sat on a chair", "quarterly revenue grew nine percent"],
    });
    expect(a).toHaveLength(64);
    expect(dot(a, a)).toBeCloseTo(1, 9);
    expect(again).toEqual(a as number[]);
    expect(dot(a, near)).toBeGreaterThan(0.5);
    expect(dot(a, near)).toBeGreaterThan(dot(a, far) + 0.3);
  });

  test("have the requested number of dimensions, also for a text without words", async () => {
    const [empty, words] = await vectors({ input: ["…", "words"], dimensions: 70 });
    expect([empty?.length, words?.length]).toEqual([70, 70]);
    expect(dot(empty, empty)).toBeCloseTo(1, 9);
    expect((await embeddings({ input: "x", dimensions: 1_000_000 })).status).toBe(400);
  });

  test("accept token input, and are base64 if the client asks for it", async () => {
    const { body } = await embeddings({ input: [1, 2, 3], encoding_format: "base64" });
    expect(body.data).toHaveLength(1);
    const bytes = Buffer.from(body.data[0]?.embedding as string, "base64");
    expect(bytes.byteLength).toBe(64 * 4);
    const [floats] = await vectors({ input: [[1, 2, 3]] });
    expect(bytes.readFloatLE(0)).toBeCloseTo(floats?.[0] as number, 6);
  });
});

describe("echo's chat", () => {
  const body = JSON.stringify({ messages: [{ role: "user", content: "say this" }] });

  test("answers with the caller's text", async () => {
    const { response } = (await echo.send(vendorTarget("echo", {}), vendorRequest("chat", { body }))) as ProviderReply;
    expect(await response.json()).toMatchObject({
      model: "model-1",
      choices: [{ message: { content: "say this" }, finish_reason: "stop" }],
      created: 1_763_712_000,
    });
    expect(echo.url(vendorTarget("echo", {}), "chat", false)).toBe("echo:chat/completions");
  });

  test("is refused in formats other than chat completions", async () => {
    expect(await echo.send(vendorTarget("echo", {}), vendorRequest("messages", { body }))).toMatchObject({ code: "model_mode_mismatch" });
  });
});
