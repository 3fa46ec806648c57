import { afterAll, beforeAll, expect, test } from "bun:test";
import { type CallableTool, GoogleGenAI, type Part } from "@google/genai";
import { fakeVendor, type FakeVendor } from "../../support/vendors/fake-vendor.ts";
import { events } from "../../support/vendors/scene.ts";
import type { Loose } from "../../support/vendors/loose.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Google's client calls functions itself and sends each piece of the streamed answer back as a content of its own. */
let world: World;
let vendor: FakeVendor;
let apiKey: string;

const call = (city: string): Part => ({ functionCall: { id: `call-${city}`, name: "weather", args: { city } } });
/** Google signs only the first of several calls. */
const PARTS: Part[] = [{ ...call("Oslo"), thoughtSignature: "c2lnbmVk" }, call("Bergen")];

beforeAll(async () => {
  vendor = fakeVendor(({ body }) => {
    const { contents } = JSON.parse(body) as Loose;
    const answered = contents.length > 1;
    const pieces = (answered ? [{ text: "Rain." }] : PARTS).map((part, at, all) => ({
      data: {
        candidates: [{ content: { role: "model", parts: [part] }, index: 0, ...(at === all.length - 1 && { finishReason: "STOP" }) }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      },
    }));
    return events(pieces);
  });
  world = await startWorld();
  const { admin } = world;
  const group = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team", group_type: "team" });
  const provider = { tenant_id: "default", provider_key: "google", api_format: "gemini", base_url: vendor.origin, api_key: "k" };
  await admin.post("/v1/admin/providers", provider);
  const model = { tenant_id: "default", name: "gemini", model_name: "gemini-3-pro", provider: "google", group_ids: [group.id] };
  await admin.post("/v1/admin/llms", model);
  apiKey = (await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" })).key_value;
});

afterAll(async () => {
  await world.end();
  await vendor.stop();
});

test("parallel calls that Google's client answers by itself go back to Google as Google sent them", async () => {
  const weather: CallableTool = {
    tool: async () => ({ functionDeclarations: [{ name: "weather", parametersJsonSchema: { type: "object" } }] }),
    callTool: async (calls) =>
      calls.map(({ id, name }) => ({ functionResponse: { id: id ?? "", name: name ?? "", response: { output: "rain" } } })),
  };
  const { models } = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: world.gateway.runtimeUrl } });
  const stream = await models.generateContentStream({ model: "gemini", contents: "Weather?", config: { tools: [weather] } });
  const answers = await Array.fromAsync(stream);
  expect(answers.at(-1)?.text).toBe("Rain.");
  const sent = (JSON.parse(vendor.seen.at(-1)?.body ?? "{}") as { contents: { role: string; parts: Part[] }[] }).contents;
  expect(sent.filter(({ role }) => role === "model").flatMap(({ parts }) => parts)).toEqual(PARTS);
});
