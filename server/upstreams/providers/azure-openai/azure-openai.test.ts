import { afterAll, describe, expect, test } from "bun:test";
import { fakeVendor, vendorRequest, vendorTarget } from "../../../../tests/support/vendors/fake-vendor.ts";
import { outbound } from "../../../runtime/outbound.ts";
import type { ProviderReply } from "../provider.ts";
import { azureOpenaiProvider } from "./azure-openai.ts";

const vendor = fakeVendor(() => Response.json({}, { headers: { "apim-request-id": "apim-1", "x-request-id": "other" } }));
afterAll(() => vendor.stop());
const provider = azureOpenaiProvider(outbound({ allowPrivate: true }));

describe("the URL of an Azure OpenAI chat completion", () => {
  test.each([
    ["https://r.openai.azure.com", "https://r.openai.azure.com/openai/v1/chat/completions"],
    ["https://r.openai.azure.com/", "https://r.openai.azure.com/openai/v1/chat/completions"],
    ["https://r.openai.azure.com/openai", "https://r.openai.azure.com/openai/v1/chat/completions"],
    [
      "https://r.openai.azure.com/openai/v1?api-version=preview",
      "https://r.openai.azure.com/openai/v1/chat/completions?api-version=preview",
    ],
    ["https://r.openai.azure.com/openai/v1/", "https://r.openai.azure.com/openai/v1/chat/completions"],
    [
      "https://r.openai.azure.com/openai/deployments/gpt?api-version=2024-06-01",
      "https://r.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-06-01",
    ],
    [
      "https://r.openai.azure.com/openai/deployments/gpt",
      "https://r.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21",
    ],
  ])("for base_url %s", (baseUrl, url) => {
    expect(provider.url(vendorTarget("azure_openai", { baseUrl }), "chat", false)).toBe(url);
  });
});

test("the key is sent in Azure's api-key header", async () => {
  const reply = (await provider.send(
    vendorTarget("azure_openai", { baseUrl: vendor.origin }),
    vendorRequest("embeddings"),
  )) as ProviderReply;
  expect(reply.requestId).toBe("apim-1");
  expect(vendor.seen.at(-1)).toMatchObject({ path: "/openai/v1/embeddings", headers: { "api-key": "key-1" } });
  expect(vendor.seen.at(-1)?.headers.authorization).toBeUndefined();
});

test.each([
  ["", "?stream=true"],
  ["/openai/v1?api-version=preview", "?stream=true&api-version=preview"],
])("a request about a stored response keeps its query next to api-version (base_url path %p)", async (base, query) => {
  const path = "/responses/resp_1?stream=true";
  await provider.ask?.(vendorTarget("azure_openai", { baseUrl: `${vendor.origin}${base}` }), {
    ...{ method: "GET", path, abort: new AbortController(), timeoutMs: 5_000 },
  });
  expect(vendor.seen.at(-1)?.path).toBe(`/openai/v1/responses/resp_1${query}`);
});
