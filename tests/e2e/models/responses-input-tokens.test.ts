import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI, { AzureOpenAI } from "openai";
import { rowsOf, type Served, serveModels } from "../../support/worlds/admin.ts";
import { startWorld, type World } from "../../support/world.ts";

/** The token counts that OpenAI's own clients request before they send a long input. */
let world: World;
let served: Served;
let client: OpenAI;

beforeAll(async () => {
  world = await startWorld();
  served = await serveModels(world.admin, world.upstream.baseUrl, [{ name: "fake-1" }]);
  client = new OpenAI({ baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, apiKey: served.apiKey, maxRetries: 0 });
});

afterAll(() => world.end());

const input = "How long is a piece of string, in tokens? ".repeat(50);

test("input tokens are estimated for vendors other than OpenAI, marked as an estimate, and cost nothing", async () => {
  const { data, response } = await client.responses.inputTokens.count({ model: "fake-1", input }).withResponse();
  expect(data.object).toBe("response.input_tokens");
  expect(data.input_tokens).toBeGreaterThan(300);
  expect(data.input_tokens).toBeLessThan(900);
  expect(response.headers.get("x-gw-token-count")).toBe("estimate");
  expect(world.upstream.seen.filter(({ path }) => path.includes("responses"))).toEqual([]);
  const [row] = await rowsOf(world.admin, { proxy_subtype: "responses_input_tokens" }, 1);
  expect(row).toMatchObject({ success: true, llm_model_requested: "fake-1", llm_estimated_cost_usd: null });
});

test("Azure's client counts tokens too", async () => {
  const azure = new AzureOpenAI({ endpoint: world.gateway.runtimeUrl, apiKey: served.apiKey, apiVersion: "2026-10-01", maxRetries: 0 });
  expect((await azure.responses.inputTokens.count({ model: "fake-1", input })).input_tokens).toBeGreaterThan(300);
});

test.each([{ previous_response_id: "resp_1" }, { conversation: "conv_1" }])(
  "a count that needs state stored by the vendor is refused: %p",
  async (kept) => {
    const [field = ""] = Object.keys(kept);
    const counted = client.responses.inputTokens.count({ model: "fake-1", input: "more", ...kept });
    const refused = await counted.then(() => null).catch((error: Error) => error);
    expect(refused).toBeInstanceOf(OpenAI.BadRequestError);
    expect(refused?.message).toContain(field);
  },
);
