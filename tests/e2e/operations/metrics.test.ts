import { afterAll, beforeAll, expect, test } from "bun:test";
import { serveModels } from "../../support/worlds/admin.ts";
import { startWorld, type World } from "../../support/world.ts";

let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.end());

test("metrics show usage and the causes of failed calls, and name no caller", async () => {
  const { apiKey, groupId } = await serveModels(world.admin, world.upstream.baseUrl, [
    { name: "priced-model", input_cost_per_million_tokens: 500_000, output_cost_per_million_tokens: 1_000_000 },
  ]);
  const ask = async (model: string) => {
    const reply = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": apiKey },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "hello" }] }),
    });
    return { status: reply.status, body: await reply.json() };
  };
  const { status, body } = await ask("priced-model");
  expect(status).toBe(200);
  expect((await ask("nobody's")).status).toBe(404);
  const text = await (await fetch(`${world.gateway.adminUrl}/metrics`)).text();
  const valueOf = (series: string) =>
    Number(
      text
        .split("\n")
        .find((line) => line.startsWith(`${series} `))
        ?.slice(series.length + 1),
    );
  const { prompt_tokens, completion_tokens } = body.usage;
  expect(valueOf('gatehouse_call_tokens_total{proxy_type="llm",direction="input"}')).toBe(prompt_tokens);
  expect(valueOf('gatehouse_call_tokens_total{proxy_type="llm",direction="output"}')).toBe(completion_tokens);
  expect(valueOf('gatehouse_call_cost_usd_total{proxy_type="llm"}')).toBeCloseTo(prompt_tokens / 2 + completion_tokens, 6);
  expect(valueOf('gatehouse_call_failures_total{proxy_type="llm",reason="model_not_found"}')).toBe(1);
  expect(valueOf('gatehouse_upstream_attempts_total{outcome="served"}')).toBe(1);
  for (const name of ["priced-model", apiKey, groupId]) expect(text).not.toContain(name);
});
