import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { rowOf, rowsOf, serveModels, type Served } from "../support/admin.ts";
import { startWorld, type World } from "../support/world.ts";

let world: World;
let served: Served;
let config: any;

beforeAll(async () => {
  world = await startWorld();
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
  config = await world.admin.post("/v1/admin/semantic-cache/configs", { tenant_id: "default", name: "answers" });
  await world.admin.post(`/v1/admin/semantic-cache/configs/${config.id}/groups?replace=true`, { group_ids: [served.groupId] });
}, 60_000);
afterAll(() => world.end());

test("x", async () => {
  const openai = new OpenAI({ apiKey: served.apiKey, baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm` });
  const ask = () => openai.chat.completions.create({ model: "fake-1", messages: [{ role: "user", content: "hello" }] }).withResponse();
  const a = await ask();
  const t = performance.now();
  const b = await ask();
  console.log(performance.now() - t, b.response.headers.get("x-gw-cache"), JSON.stringify(b.data));
  const c = await openai.chat.completions.create({ model: "fake-1", stream: true, messages: [{ role: "user", content: "hello" }] });
  let s = "";
  for await (const chunk of c) s += chunk.choices[0]?.delta.content ?? "";
  console.log(s, world.upstream.seen.length);
  console.log(await rowsOf(world.admin, { llm_cache_hit: true }, 2));
});
