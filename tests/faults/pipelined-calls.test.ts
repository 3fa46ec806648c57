import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { rowOf, rowsOf, type Served, serveModels } from "../support/worlds/admin.ts";
import { until } from "../support/until.ts";
import { startWorld, type World } from "../support/world.ts";

let world: World;
let served: Served;

beforeAll(async () => {
  world = await startWorld();
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1", "hold"]);
});
afterAll(() => world.end());

/** The raw HTTP request of one call, with nothing after it. */
function wire(id: string, model: string): string {
  const body = JSON.stringify({ model, stream: true, messages: [{ role: "user", content: id }] });
  return [
    ...["POST /v1/proxy/llm/chat/completions HTTP/1.1", "Host: gateway", `X-API-Key: ${served.apiKey}`, `X-Correlation-Id: ${id}`],
    ...["Content-Type: application/json", `Content-Length: ${body.length}`, "", body],
  ].join("\r\n");
}

test.each([
  ["in one write", true],
  ["after the first was sent upstream", false],
] as const)(
  "two pipelined calls on one connection, %s: it is closed, and each call that was read has a row that says so",
  async (way, atOnce) => {
    const [first, second, later] = ["first", "second", "later"].map((name) => `${name} ${way}`) as [string, string, string];
    const socket = connect(Number(new URL(world.gateway.runtimeUrl).port), "127.0.0.1");
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.on("error", () => undefined).resume();
    socket.write(wire(first, "hold") + (atOnce ? wire(second, "fake-1") : ""));
    if (!atOnce) {
      const asked = await until(
        () => world.upstream.seen.find(({ body }) => body.includes(first)),
        (seen) => seen !== undefined,
      );
      socket.write(wire(second, "fake-1"));
      await asked?.aborted;
    }
    await closed;
    expect(await rowOf(world.admin, { correlation_id: first })).toMatchObject({ success: false, error_type: "client_disconnected" });
    const whole = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { "x-api-key": served.apiKey, "x-correlation-id": later, "content-type": "application/json" },
      body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: later }] }),
    });
    expect(whole.status).toBe(200);
    await rowOf(world.admin, { correlation_id: later });
    expect((await world.admin.post("/v1/admin/proxy-logs/query", { filters: { correlation_id: second } })).rows).toEqual([]);
    expect(await rowsOf(world.admin, { correlation_id: first }, 1)).toHaveLength(1);
    expect(world.upstream.seen.filter(({ body }) => body.includes(second))).toEqual([]);
  },
);
