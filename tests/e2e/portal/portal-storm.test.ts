import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { serveModels, type Served } from "../../support/worlds/admin.ts";
import { LONG_TEST_MS } from "../../support/patience.ts";
import { newPerson, PASSWORD, portalClient } from "../../support/worlds/portal.ts";
import { startWorld, type World } from "../../support/world.ts";

let world: World;
let served: Served;

beforeAll(async () => {
  world = await startWorld({ GW_TRUSTED_PROXIES: "127.0.0.1" });
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
});
afterAll(() => world.end());

test(
  "under a storm of logins each is answered or gets a retry-after, and calls are still served",
  async () => {
    const url = world.gateway.runtimeUrl;
    await newPerson(url, "in-the-storm");
    const storm = Array.from({ length: 110 }, (_, i) =>
      portalClient(url).request("POST", "/auth/login", { username: i % 5 === 0 ? "in-the-storm" : `nobody-${i}`, password: PASSWORD }),
    );
    let over = false;
    const ended = Promise.all(storm).finally(() => {
      over = true;
    });
    let calls = 0;
    while (!over) {
      const reply = await fetch(`${url}/v1/proxy/llm/chat/completions`, {
        method: "POST",
        headers: { "x-api-key": served.apiKey, "content-type": "application/json" },
        body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "x" }] }),
      });
      expect(reply.status).toBe(200);
      await reply.text();
      calls++;
    }
    const replies = await ended;
    const refused = replies.filter(({ status }) => status === 429);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 401, 429]));
    for (const reply of refused) expect([reply.body.code, Number(reply.headers.get("retry-after")) > 0]).toEqual(["too_many_logins", true]);
    expect(calls).toBeGreaterThan(10);
  },
  LONG_TEST_MS,
);

test("a storm of administrator logins is queued too, and portal logins take turns with it", async () => {
  const enough = new AbortController();
  const refused: unknown[] = [];
  const many = Promise.withResolvers<void>();
  const storm = Array.from({ length: 110 }, async (_, i) => {
    const reply = await fetch(`${world.gateway.adminUrl}/v1/admin-users/system/login`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": `203.0.113.${i}` },
      body: JSON.stringify({ username: `nobody-${i}`, password: PASSWORD }),
      signal: enough.signal,
    });
    if (reply.status !== 429) return expect(reply.status).toBe(401);
    refused.push([((await reply.json()) as any).code, reply.headers.get("retry-after")]);
    if (refused.length === 20) many.resolve();
  });
  const ended = Promise.allSettled(storm);
  const beside = await portalClient(world.gateway.runtimeUrl).request("POST", "/auth/login", {
    username: "in-the-storm",
    password: PASSWORD,
  });
  expect(beside.status).toBe(200);
  await many.promise;
  // Those still queued would run one after the other; their outcome is known, so cancel them.
  enough.abort();
  const failed = (await ended).filter((result) => result.status === "rejected" && !(result.reason instanceof DOMException));
  expect(failed).toEqual([]);
  for (const told of refused) expect(told).toEqual(["too_many_logins", "1"]);
});

test("a storm of portal logins does not lock out other addresses or people who signed in from there before", async () => {
  const url = world.gateway.runtimeUrl;
  const logIn = (username: string, address: string, signal?: AbortSignal) =>
    fetch(`${url}/v1/portal/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": address },
      body: JSON.stringify({ username, password: PASSWORD }),
      ...(signal === undefined ? {} : { signal }),
    });
  expect((await logIn("in-the-storm", "198.51.100.1")).status).toBe(200);
  await newPerson(url, "from-elsewhere");
  for (const [from, username, address] of [
    [() => "203.0.113.200", "from-elsewhere", "198.51.100.2"],
    [(i: number) => `203.0.113.${i}`, "in-the-storm", "198.51.100.1"],
  ] as const) {
    const enough = new AbortController();
    const full = Promise.withResolvers<void>();
    const storm = Array.from({ length: 110 }, async (_, i) => {
      const { status } = await logIn(`nobody-${i}`, from(i), enough.signal);
      if (status === 429) full.resolve();
    });
    const ended = Promise.allSettled(storm);
    await full.promise;
    expect((await logIn(username, address)).status).toBe(200);
    enough.abort();
    await ended;
  }
});

/** The nice value of each of the gateway's threads, as the scheduler reports it. */
function nicenesses(): number[] {
  const tasks = `/proc/${world.gateway.pid()}/task`;
  return readdirSync(tasks).map((id) => {
    const stat = readFileSync(`${tasks}/${id}/stat`, "utf8");
    // The name is in parentheses and may contain anything; the nice value is the 19th field.
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
  });
}

test("the thread that hashes passwords has a lower priority than those that serve calls", () => {
  const own = nicenesses();
  const usual = Math.min(...own);
  expect([...new Set(own.filter((niceness) => niceness > usual))]).toEqual([Math.min(usual + 5, 19)]);
});
