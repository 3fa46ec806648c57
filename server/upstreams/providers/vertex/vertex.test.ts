import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { importSPKI, jwtVerify } from "jose";
import { fakeVendor, vendorRequest, vendorTarget } from "../../../../tests/support/vendors/fake-vendor.ts";
import { startRawUpstream } from "../../../../tests/support/vendors/raw-upstream.ts";
import { outbound } from "../../../runtime/outbound.ts";
import type { ProviderReply, ProviderTarget } from "../provider.ts";
import { vertexProvider } from "./vertex.ts";

const { privateKey, publicKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

let exchanges: string[] = [];
let tokenStatus = 200;
let vendorStatus = 200;
let now = Date.UTC(2026, 10, 21);
beforeEach(() => {
  exchanges = [];
  tokenStatus = 200;
  vendorStatus = 200;
});

const google = fakeVendor(({ path, body }) => {
  if (path === "/token") {
    exchanges.push(body);
    return tokenStatus === 200
      ? Response.json({ access_token: `ya29.${exchanges.length}`, expires_in: 3600, token_type: "Bearer" })
      : Response.json({ error: "invalid_grant" }, { status: tokenStatus });
  }
  if (path.endsWith(":predict")) {
    const { instances } = JSON.parse(body) as { instances: { content: string }[] };
    return Response.json({
      predictions: instances.map(({ content }) => ({
        embeddings: { values: [content.length], statistics: { token_count: 3, truncated: false } },
      })),
    });
  }
  return Response.json({}, { status: vendorStatus });
});
afterAll(() => google.stop());

const account = JSON.stringify(
  {
    type: "service_account",
    project_id: "proj-1",
    private_key_id: "kid-1",
    private_key: privateKey,
    client_email: "sa@proj-1.iam.gserviceaccount.com",
    token_uri: `${google.origin}/token`,
  },
  null,
  2,
);
const target = (given: Partial<ProviderTarget> = {}) =>
  vendorTarget("vertex", { baseUrl: google.origin, region: "europe-west4", apiKey: account, modelName: "gemini-3-pro", ...given });
const fresh = () => vertexProvider(outbound({ allowPrivate: true }), { now: () => now });
const calls = () => google.seen.filter(({ path }) => path !== "/token");

describe("a Vertex service account key", () => {
  test("is exchanged for an access token with an assertion signed by it", async () => {
    now = Date.now();
    await fresh().send(target(), vendorRequest("gemini"));
    const form = new URLSearchParams(exchanges[0]);
    expect(form.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
    const { payload, protectedHeader } = await jwtVerify(form.get("assertion") as string, await importSPKI(publicKey, "RS256"), {
      issuer: "sa@proj-1.iam.gserviceaccount.com",
      audience: `${google.origin}/token`,
    });
    expect(protectedHeader).toEqual({ alg: "RS256", typ: "JWT", kid: "kid-1" });
    expect(payload).toMatchObject({ scope: "https://www.googleapis.com/auth/cloud-platform", exp: Number(payload.iat) + 3600 });
    expect(calls().at(-1)).toMatchObject({
      path: "/v1/projects/proj-1/locations/europe-west4/publishers/google/models/gemini-3-pro:generateContent",
      headers: { authorization: "Bearer ya29.1" },
    });
  });

  test("is exchanged once for concurrent calls, and again shortly before the token expires", async () => {
    const provider = fresh();
    await Promise.all(Array.from({ length: 5 }, () => provider.send(target(), vendorRequest("gemini"))));
    expect(exchanges).toHaveLength(1);
    now += 3_290_000;
    await provider.send(target(), vendorRequest("gemini"));
    expect(exchanges).toHaveLength(1);
    now += 20_000;
    await provider.send(target(), vendorRequest("gemini"));
    expect(exchanges).toHaveLength(2);
    expect(calls().at(-1)?.headers.authorization).toBe("Bearer ya29.2");
  });

  test("may be given in base64", async () => {
    const provider = fresh();
    await provider.send(target({ apiKey: Buffer.from(account).toString("base64") }), vendorRequest("gemini"));
    expect(exchanges).toHaveLength(1);
    expect(provider.url(target({ apiKey: Buffer.from(account).toString("base64") }), "gemini", false)).toContain("/projects/proj-1/");
  });

  test("that Google refuses fails the call, and is exchanged again by the next call", async () => {
    const provider = fresh();
    tokenStatus = 400;
    const before = calls().length;
    expect(await provider.send(target(), vendorRequest("gemini"))).toMatchObject({
      code: "upstream_auth_failed",
      reason: "the token endpoint answered 400: invalid_grant",
    });
    tokenStatus = 503;
    expect(await provider.send(target(), vendorRequest("gemini"))).toMatchObject({ code: "upstream_error" });
    expect(calls().length).toBe(before);
    tokenStatus = 200;
    expect(await provider.send(target(), vendorRequest("gemini"))).toHaveProperty("response");
    expect(exchanges).toHaveLength(3);
  });

  test("whose exchange breaks off is reported as unreachable, so that the call is not metered", async () => {
    const raw = await startRawUpstream(() => ({ head: null, pieces: [], ending: "end" }));
    const apiKey = JSON.stringify({ ...JSON.parse(account), token_uri: `${raw.origin}/token` });
    expect(await fresh().send(target({ apiKey }), vendorRequest("gemini"))).toMatchObject({
      code: "upstream_unreachable",
      reason: expect.stringContaining("the token endpoint: "),
    });
    await raw.stop();
  });

  test("that is invalid is refused without showing any of it", async () => {
    const broken = JSON.stringify({
      client_email: "a@b",
      private_key: "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n",
      project_id: "p",
    });
    const refusal = await fresh().send(target({ apiKey: broken }), vendorRequest("gemini"));
    expect(refusal).toMatchObject({ code: "upstream_auth_failed" });
    expect(JSON.stringify(refusal)).not.toContain("c2VjcmV0");
  });

  test("is exchanged again after the model's endpoint refused the access token", async () => {
    const provider = fresh();
    vendorStatus = 401;
    expect(((await provider.send(target(), vendorRequest("gemini"))) as ProviderReply).response.status).toBe(401);
    await provider.send(target(), vendorRequest("gemini"));
    expect(exchanges).toHaveLength(2);
  });
});

test("a Vertex access token is sent unchanged, with the project of the base_url", async () => {
  const provider = fresh();
  const given = target({ apiKey: "ya29.mine", baseUrl: `${google.origin}/v1/projects/p-2/locations/global` });
  await provider.send(given, vendorRequest("gemini", { stream: true }));
  expect(calls().at(-1)).toMatchObject({
    path: "/v1/projects/p-2/locations/global/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse",
    headers: { authorization: "Bearer ya29.mine" },
  });
  expect(exchanges).toHaveLength(0);
  expect(await provider.send(target({ apiKey: "ya29.mine" }), vendorRequest("gemini"))).toMatchObject({
    code: "upstream_error",
    message: expect.stringContaining("project"),
  });
});

describe("the URL of a Vertex request", () => {
  const provider = fresh();
  test.each([
    [
      "https://us-central1-aiplatform.googleapis.com",
      "gemini-3-pro",
      "gemini_count",
      "https://us-central1-aiplatform.googleapis.com/v1/projects/proj-1/locations/us-central1/publishers/google/models/gemini-3-pro:countTokens",
    ],
    [
      "https://us-central1-aiplatform.googleapis.com/v1",
      "google/gemini-3-pro",
      "gemini",
      "https://us-central1-aiplatform.googleapis.com/v1/projects/proj-1/locations/us-central1/publishers/google/models/gemini-3-pro:generateContent",
    ],
    [
      "https://aiplatform.googleapis.com",
      "claude-opus-4-6",
      "messages",
      "https://aiplatform.googleapis.com/v1/projects/proj-1/locations/global/publishers/anthropic/models/claude-opus-4-6:rawPredict",
    ],
    [
      "https://aiplatform.googleapis.com",
      "claude-3-5-sonnet@20240620",
      "count_tokens",
      "https://aiplatform.googleapis.com/v1/projects/proj-1/locations/global/publishers/anthropic/models/count-tokens:rawPredict",
    ],
  ] as const)("for base_url %s, model %s and operation %s", (baseUrl, modelName, operation, url) => {
    expect(provider.url(target({ baseUrl, modelName }), operation, false)).toBe(url);
  });
});

describe("Claude on Vertex", () => {
  test("has the model name in the URL, the version in the body, and all other bytes unchanged", async () => {
    await fresh().send(
      target({ modelName: "claude-opus-4-6@20260101" }),
      vendorRequest("messages", {
        stream: true,
        body: '{"model":"claude-opus-4-6", "max_tokens":  5,"stream":true}',
        headers: { "anthropic-version": "2023-06-01", "anthropic-beta": "b1" },
      }),
    );
    const seen = calls().at(-1);
    expect(seen?.path).toBe(
      "/v1/projects/proj-1/locations/europe-west4/publishers/anthropic/models/claude-opus-4-6@20260101:streamRawPredict",
    );
    expect(JSON.parse(seen?.body ?? "")).toEqual({ max_tokens: 5, stream: true, anthropic_version: "vertex-2023-10-16" });
    expect(seen?.body).toContain('"max_tokens":  5');
    expect(seen?.headers["anthropic-version"]).toBeUndefined();
    expect(seen?.headers["anthropic-beta"]).toBe("b1");
  });

  test("has the model name in the body of a token count", async () => {
    await fresh().send(
      target({ modelName: "claude-opus-4-6" }),
      vendorRequest("count_tokens", { body: '{"model":"claude-opus-4-6","messages":[]}' }),
    );
    expect(JSON.parse(calls().at(-1)?.body ?? "")).toEqual({
      model: "claude-opus-4-6",
      messages: [],
      anthropic_version: "vertex-2023-10-16",
    });
  });
});

test("Vertex embeddings are requested one by one and returned as one batch", async () => {
  const body = JSON.stringify({
    requests: ["a", "bb", "ccc"].map((text) => ({
      model: "models/gemini-embedding-001",
      content: { parts: [{ text }] },
      outputDimensionality: 8,
    })),
  });
  const { response } = (await fresh().send(
    target({ modelName: "gemini-embedding-001" }),
    vendorRequest("gemini_embed", { body }),
  )) as ProviderReply;
  expect(await response.json()).toEqual({
    embeddings: [{ values: [1] }, { values: [2] }, { values: [3] }],
    usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
  });
  expect(
    calls()
      .map(({ path }) => path)
      .at(-1),
  ).toEndWith("gemini-embedding-001:predict");
  expect(
    calls()
      .slice(-3)
      .map((call) => JSON.parse(call.body)),
  ).toContainEqual({ instances: [{ content: "bb" }], parameters: { outputDimensionality: 8 } });
});
