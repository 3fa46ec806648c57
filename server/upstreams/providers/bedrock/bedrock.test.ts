import { afterAll, describe, expect, test } from "bun:test";
import { createHash, createHmac } from "node:crypto";
import { fakeVendor, type VendorRequest, vendorRequest, vendorTarget } from "../../../../tests/support/vendors/fake-vendor.ts";
import { outbound } from "../../../runtime/outbound.ts";
import type { ProviderReply, ProviderTarget } from "../provider.ts";
import { bedrockProvider } from "./bedrock.ts";
import { readBedrockCredential, signedHeaders } from "./credentials.ts";

const SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const NOW = Date.UTC(2026, 10, 21, 12, 0, 0);

const vendor = fakeVendor(({ path, body }) => {
  const headers = { "x-amzn-requestid": "amzn-1" };
  if (!path.endsWith("/invoke")) return Response.json({ output: {} }, { headers });
  const asked = JSON.parse(body) as { inputText?: string; texts?: string[] };
  if (asked.inputText === "refused") return Response.json({ message: "too long" }, { status: 400, headers });
  if (asked.inputText === "nonsense") return new Response("<html>", { headers });
  if (asked.texts !== undefined)
    return Response.json(
      { embeddings: { float: asked.texts.map(() => [1]) } },
      { headers: { ...headers, "x-amzn-bedrock-input-token-count": "11" } },
    );
  return Response.json({ embedding: [Number(asked.inputText)], inputTextTokenCount: 2 }, { headers });
});
afterAll(() => vendor.stop());
const provider = bedrockProvider(outbound({ allowPrivate: true }), { now: () => NOW });
const target = (given: Partial<ProviderTarget>) =>
  vendorTarget("bedrock", {
    baseUrl: vendor.origin,
    region: "eu-central-1",
    apiKey: `AKIDEXAMPLE1:${SECRET}`,
    modelName: "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
    ...given,
  });

/** The signature according to AWS's documentation (Create a signed AWS API request), from the request as received. */
function expectedSignature({ method, path, headers, body }: VendorRequest, secret: string): string {
  const authorization = headers.authorization ?? "";
  const signed = /SignedHeaders=([^,]+)/.exec(authorization)?.[1] ?? "";
  const scope = /Credential=[^/]+\/([^,]+)/.exec(authorization)?.[1] ?? "";
  const [date = "", region = "", service = "", end = ""] = scope.split("/");
  const sha = (text: string) => createHash("sha256").update(text).digest("hex");
  const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
  const encoded = (path.split("?")[0] as string)
    .split("/")
    .map((segment) => encodeURIComponent(segment))
    .join("/");
  const canonical = [
    method,
    encoded,
    "",
    ...signed.split(";").map((name) => `${name}:${(headers[name] ?? "").trim()}`),
    "",
    signed,
    sha(body),
  ].join("\n");
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, sha(canonical)].join("\n");
  const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, date), region), service), end);
  return createHmac("sha256", key).update(text).digest("hex");
}

describe("Bedrock requests signed with AWS keys", () => {
  test.each([
    "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc123",
    "amazon.nova-pro-v1:0",
  ])("have a valid signature for model %s", async (modelName) => {
    const reply = (await provider.send(
      target({ modelName }),
      vendorRequest("converse", { body: '{"messages":[{"text":"Grüße"}]}' }),
    )) as ProviderReply;
    expect(reply.requestId).toBe("amzn-1");
    const seen = vendor.seen.at(-1) as VendorRequest;
    expect(seen.path).toBe(`/model/${encodeURIComponent(modelName)}/converse`);
    expect(seen.headers).toMatchObject({
      "x-amz-date": "20261121T120000Z",
      host: new URL(vendor.origin).host,
      "content-type": "application/json",
    });
    expect(seen.headers.authorization).toBe(
      `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE1/20261121/eu-central-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date, Signature=${expectedSignature(seen, SECRET)}`,
    );
    expect(JSON.stringify(seen)).not.toContain(SECRET);
  });

  test("include and sign a session token", async () => {
    await provider.send(target({ apiKey: `ASIAEXAMPLE1:${SECRET}:session/token+1==` }), vendorRequest("converse", { stream: true }));
    const seen = vendor.seen.at(-1) as VendorRequest;
    expect(seen.path).toEndWith("/converse-stream");
    expect(seen.headers).toMatchObject({ "x-amz-security-token": "session/token+1==", accept: "application/vnd.amazon.eventstream" });
    expect(seen.headers.authorization).toContain("x-amz-security-token,");
    expect(seen.headers.authorization).toEndWith(expectedSignature(seen, SECRET));
  });

  test("include headers of the provider record without signing them", async () => {
    await provider.send(target({ headers: { "x-team": "one", accept: "text/plain" } }), vendorRequest("converse"));
    const seen = vendor.seen.at(-1) as VendorRequest;
    expect(seen.headers["x-team"]).toBe("one");
    expect(seen.headers.authorization).not.toContain("x-team");
    expect(seen.headers.authorization).toEndWith(expectedSignature(seen, SECRET));
  });

  test.each([
    ["https://bedrock-runtime.us-west-2.amazonaws.com", "eu-central-1", "us-west-2"],
    ["https://vpce-0a1-b2.bedrock-runtime.ap-southeast-2.vpce.amazonaws.com", null, "ap-southeast-2"],
    ["https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com", null, "us-gov-west-1"],
    ["https://proxy.example/aws", "eu-west-1", "eu-west-1"],
  ])("to %s with region %s are signed for region %s", async (baseUrl, region, signedFor) => {
    let authorization: string | null = null;
    const recording = bedrockProvider(
      {
        async fetch(_url, { headers }) {
          authorization = new Headers(headers).get("authorization");
          return Response.json({});
        },
      },
      { now: () => NOW },
    );
    await recording.send(target({ baseUrl, region }), vendorRequest("converse"));
    expect(authorization ?? "").toContain(`/20261121/${signedFor}/bedrock/aws4_request`);
  });

  test("are not sent without a valid region", async () => {
    const before = vendor.seen.length;
    expect(await provider.send(target({ region: null }), vendorRequest("converse"))).toMatchObject({ code: "upstream_error" });
    expect(await provider.send(target({ region: "EU" }), vendorRequest("converse"))).toMatchObject({ code: "upstream_error" });
    expect(vendor.seen.length).toBe(before);
  });

  // Generated with botocore 1.44.5 (SigV4Auth) for these exact requests.
  test.each([
    ["amazon.nova-pro-v1:0", "8f4ba2b2dbbe366b5df20de9088985ad494d9ba0d3fe0607653974dbd225e018"],
    [
      "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123",
      "c5562e265820cff33c3d55c657a8d170f434152a126ce3d283983e63b809b373",
    ],
  ])("have the same signature as that of AWS's own signer for %s", async (modelName, signature) => {
    const url = provider.url(target({ baseUrl: "https://bedrock-runtime.us-east-1.amazonaws.com", modelName }), "converse", false);
    const headers = await signedHeaders(
      { kind: "keys", accessKeyId: "AKIDEXAMPLE1", secretAccessKey: SECRET, sessionToken: null },
      { url, body: '{"a": 1}', region: "us-east-1", now: new Date(NOW) },
    );
    expect(headers.authorization).toBe(
      `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE1/20261121/us-east-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date, Signature=${signature}`,
    );
  });
});

test("a Bedrock API key is sent as a bearer token", async () => {
  await provider.send(target({ apiKey: "ABSKQmVkcm9ja0FQSUtleS1leGFtcGxl", region: null }), vendorRequest("converse"));
  expect(vendor.seen.at(-1)?.headers).toMatchObject({ authorization: "Bearer ABSKQmVkcm9ja0FQSUtleS1leGFtcGxl" });
  expect(vendor.seen.at(-1)?.headers["x-amz-date"]).toBeUndefined();
});

test.each([
  ["AKIDEXAMPLE1:s3cret", { kind: "keys", accessKeyId: "AKIDEXAMPLE1", secretAccessKey: "s3cret", sessionToken: null }],
  ["ASIAEXAMPLE1:s3cret:tok=", { kind: "keys", accessKeyId: "ASIAEXAMPLE1", secretAccessKey: "s3cret", sessionToken: "tok=" }],
  ["bedrock-api-key-YmVk", { kind: "bearer", token: "bedrock-api-key-YmVk" }],
] as const)("the Bedrock credential %s is read", (apiKey, credential) => {
  expect(readBedrockCredential(apiKey)).toEqual(credential);
});

describe("embeddings from Bedrock", () => {
  const embed = (bodies: unknown[]) =>
    provider.send(target({ modelName: "amazon.titan-embed-text-v2:0" }), vendorRequest("bedrock_embed", { body: JSON.stringify(bodies) }));

  test("are requested one by one and returned in order", async () => {
    const reply = (await embed(Array.from({ length: 9 }, (_, i) => ({ inputText: String(i) })))) as ProviderReply;
    expect(reply.requestId).toBe("amzn-1");
    expect(await reply.response.json()).toEqual(Array.from({ length: 9 }, (_, i) => ({ embedding: [i], inputTextTokenCount: 2 })));
    expect(vendor.seen.at(-1)?.path).toBe("/model/amazon.titan-embed-text-v2%3A0/invoke");
  });

  test("take their token count from the header if the body has none", async () => {
    const reply = (await embed([{ texts: ["a", "b"] }])) as ProviderReply;
    expect(await reply.response.json()).toEqual([{ embeddings: { float: [[1], [1]] }, inputTextTokenCount: 11 }]);
  });

  test("fail as a whole if one request is refused or its response is invalid", async () => {
    const reply = (await embed([{ inputText: "1" }, { inputText: "refused" }])) as ProviderReply;
    expect([reply.response.status, await reply.response.json()]).toEqual([400, { message: "too long" }]);
    expect(await embed([{ inputText: "nonsense" }])).toMatchObject({ code: "upstream_invalid_response" });
  });
});
