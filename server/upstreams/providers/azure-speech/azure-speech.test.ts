import { afterAll, describe, expect, test } from "bun:test";
import { fakeVendor, vendorRequest, vendorTarget } from "../../../../tests/support/vendors/fake-vendor.ts";
import { outbound } from "../../../runtime/outbound.ts";
import type { ProviderReply } from "../provider.ts";
import { azureSpeechProvider } from "./azure-speech.ts";

const vendor = fakeVendor(() => new Response("sound", { headers: { "content-type": "audio/mpeg", "x-requestid": "speech-1" } }));
afterAll(() => vendor.stop());
const provider = azureSpeechProvider(outbound({ allowPrivate: true }));

describe("the URL of Azure speech synthesis", () => {
  test.each([
    ["https://westeurope.tts.speech.microsoft.com", "https://westeurope.tts.speech.microsoft.com/cognitiveservices/v1"],
    ["https://westeurope.tts.speech.microsoft.com/", "https://westeurope.tts.speech.microsoft.com/cognitiveservices/v1"],
    [
      "https://westeurope.tts.speech.microsoft.com/cognitiveservices/v1/",
      "https://westeurope.tts.speech.microsoft.com/cognitiveservices/v1",
    ],
    ["https://name.cognitiveservices.azure.com/tts", "https://name.cognitiveservices.azure.com/tts/cognitiveservices/v1"],
  ])("for base_url %s", (baseUrl, url) => {
    expect(provider.url(vendorTarget("azure_speech", { baseUrl }), "azure_speech", true)).toBe(url);
  });
});

test("SSML is sent to Azure as such, with the key in the service's own header", async () => {
  const reply = (await provider.send(
    vendorTarget("azure_speech", { baseUrl: vendor.origin }),
    vendorRequest("azure_speech", { body: "<speak/>", stream: true, headers: { "x-microsoft-outputformat": "f" } }),
  )) as ProviderReply;
  expect([reply.requestId, await reply.response.text()]).toEqual(["speech-1", "sound"]);
  expect(vendor.seen.at(-1)).toMatchObject({
    ...{ method: "POST", path: "/cognitiveservices/v1", body: "<speak/>" },
    headers: {
      "ocp-apim-subscription-key": "key-1",
      "content-type": "application/ssml+xml",
      "x-microsoft-outputformat": "f",
      "user-agent": "gatehouse",
    },
  });
  expect(vendor.seen.at(-1)?.headers.authorization).toBeUndefined();
});

test("an Azure speech provider refuses operations other than speech synthesis, without sending them", async () => {
  const before = vendor.seen.length;
  const target = vendorTarget("azure_speech", { baseUrl: vendor.origin });
  for (const operation of ["chat", "speech", "embeddings", "transcriptions"] as const)
    expect(await provider.send(target, vendorRequest(operation))).toMatchObject({ code: "model_mode_mismatch" });
  expect(vendor.seen.length).toBe(before);
});
