import { afterAll, describe, expect, test } from "bun:test";
import { fakeVendor, vendorRequest, vendorTarget } from "../../../../tests/support/vendors/fake-vendor.ts";
import { outbound } from "../../../runtime/outbound.ts";
import { geminiProvider } from "./gemini.ts";

const vendor = fakeVendor();
afterAll(() => vendor.stop());
const provider = geminiProvider(outbound({ allowPrivate: true }));

describe("the URL of a Gemini request", () => {
  test.each([
    ["https://g.example", "gemini-3-pro", "gemini", false, "https://g.example/v1beta/models/gemini-3-pro:generateContent"],
    [
      "https://g.example/v1beta",
      "gemini-3-pro",
      "gemini",
      true,
      "https://g.example/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
    ],
    [
      "https://g.example/v1beta",
      "gemini-3-pro",
      "gemini_array",
      true,
      "https://g.example/v1beta/models/gemini-3-pro:streamGenerateContent",
    ],
    ["https://g.example/v1", "models/gemini-3-pro", "gemini_count", false, "https://g.example/v1/models/gemini-3-pro:countTokens"],
    ["https://g.example/", "tunedModels/mine", "gemini", false, "https://g.example/v1beta/tunedModels/mine:generateContent"],
    [
      "https://g.example",
      "gemini-embedding-001",
      "gemini_embed",
      false,
      "https://g.example/v1beta/models/gemini-embedding-001:batchEmbedContents",
    ],
    ["https://g.example", "odd?key=x", "gemini", false, "https://g.example/v1beta/models/odd%3Fkey%3Dx:generateContent"],
  ] as const)("for base_url %s, model %s, operation %s and streaming %s", (baseUrl, modelName, operation, stream, url) => {
    expect(provider.url(vendorTarget("gemini", { baseUrl, modelName }), operation, stream)).toBe(url);
  });
});

test("a Gemini API key is sent in a header, never in the URL", async () => {
  await provider.send(vendorTarget("gemini", { baseUrl: vendor.origin }), vendorRequest("gemini", { stream: true }));
  const [seen] = vendor.seen;
  expect(seen).toMatchObject({ path: "/v1beta/models/model-1:streamGenerateContent?alt=sse", headers: { "x-goog-api-key": "key-1" } });
  expect(seen?.path).not.toContain("key-1");
});
