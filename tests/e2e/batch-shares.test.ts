import { afterAll, beforeAll, expect, test } from "bun:test";
import { serveModels } from "../support/admin.ts";
import { batchCaller, chatLines } from "../support/batch.ts";
import { startWorld, type World } from "../support/world.ts";

let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.end());

test("a small job is not behind a large one, and the large one goes on meanwhile", async () => {
  const large = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"], { group: "large", providerKey: "large" });
  const small = await serveModels(world.admin, world.upstream.baseUrl, ["fake-2"], { group: "small", providerKey: "small" });
  const many = batchCaller(world.gateway.runtimeUrl, large.apiKey);
  const few = batchCaller(world.gateway.runtimeUrl, small.apiKey);
  const { body: first } = await many.submit({ model: "fake-1", requests: chatLines(3_000, (at) => `large ${at}`) });
  await many.until(first.id, ({ request_counts: counts }) => counts.completed > 50);
  const { body: second } = await few.submit({ model: "fake-2", requests: chatLines(120, (at) => `small ${at}`) });
  await few.until(second.id);
  const order = world.upstream.seen.map(({ body }) => (body.includes("small ") ? "small" : "large"));
  const between = order.slice(order.indexOf("small"), order.lastIndexOf("small") + 1).filter((whose) => whose === "large").length;
  expect(between).toBeGreaterThan(0);
  // Alone it would have waited for none of them; a half of its own number is half as long again.
  expect(between).toBeLessThan(60 + 16);
  expect((await many.until(first.id)).request_counts.completed).toBe(3_000);
});
