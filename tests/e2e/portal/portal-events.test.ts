import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { rowOf, rowsOf, serveModels, type Served } from "../../support/worlds/admin.ts";
import { newPerson, type PortalClient } from "../../support/worlds/portal.ts";
import { startWorld, type World } from "../../support/world.ts";

let world: World;
let served: Served;
let member: PortalClient & { readonly id: string };
let outsider: PortalClient & { readonly id: string };

beforeAll(async () => {
  world = await startWorld();
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
  member = await newPerson(world.gateway.runtimeUrl, "member");
  outsider = await newPerson(world.gateway.runtimeUrl, "outsider");
  const people = await world.admin.post("/v1/admin/end-user-groups", { name: "people", initial_member_ids: [member.id] });
  await world.admin.post(`/v1/admin/end-user-groups/${people.id}/resource-groups`, { resource_group_ids: [served.groupId] });
});
afterAll(() => world.end());

interface Stream {
  readonly response: Response;
  /** Resolves with the data of the next event of this name. */
  next(name: string): Promise<any>;
  /** Resolves with everything read once the stream has ended. */
  ended(): Promise<string>;
  close(): void;
}

async function open(client: PortalClient): Promise<Stream> {
  const abort = new AbortController();
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/portal/events`, {
    headers: { authorization: `Bearer ${client.token}` },
    signal: abort.signal,
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = "";
  let rest = "";
  const read = async (): Promise<boolean> => {
    const { done, value } = await reader.read();
    const piece = decoder.decode(value);
    text += piece;
    rest += piece;
    return done;
  };
  return {
    response,
    async next(name) {
      for (;;) {
        const frames = rest.split("\n\n");
        const at = frames.slice(0, -1).findIndex((frame) => frame.startsWith(`event: ${name}\n`));
        if (at >= 0) {
          rest = frames.filter((_, i) => i !== at).join("\n\n");
          return JSON.parse((frames[at] as string).split("\ndata: ")[1] as string);
        }
        if (await read()) throw new Error(`the stream ended before ${name}: ${text}`);
      }
    },
    async ended() {
      while (!(await read()));
      return text;
    },
    close: () => abort.abort(),
  };
}

test("an alert reaches a member's event stream at once and no outsider's, and is in the right lists", async () => {
  const [heard, unheard] = [await open(member), await open(outsider)];
  expect([heard.response.headers.get("content-type"), await heard.next("ready"), await unheard.next("ready")]).toEqual([
    "text/event-stream",
    {},
    {},
  ]);
  await world.admin.request("PATCH", `/v1/admin/resource-groups/${served.groupId}/llm-global-limits`, {
    llm_global_limits: { requests: { daily_limit: 100, daily_warning_percent: 1 } },
  });
  await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "x-api-key": served.apiKey, "content-type": "application/json" },
    body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "x" }] }),
  });
  const notification = await heard.next("notification");
  const alert = await heard.next("alert");
  expect(notification).toMatchObject({ is_read: false, metadata: { group_id: served.groupId } });
  expect(alert).toMatchObject({ group_id: served.groupId, resolved: false, acknowledged: false, acknowledged_at: null });

  const listed = (await member.request("GET", "/notifications?unread_only=true")).body;
  expect(listed.notifications.map(({ id }: { id: string }) => id)).toContain(notification.id);
  expect((await member.request("GET", "/notifications/unread-count")).body).toEqual({ unread_count: listed.total });
  expect((await outsider.request("POST", `/notifications/${notification.id}/read`)).status).toBe(404);
  expect((await member.request("POST", `/notifications/${notification.id}/read`)).body).toMatchObject({
    id: notification.id,
    is_read: true,
  });
  expect((await member.request("POST", "/notifications/mark-all-read")).body.success).toBe(true);
  expect((await member.request("GET", "/notifications/unread-count")).body).toEqual({ unread_count: 0 });

  expect((await member.request("GET", "/alerts")).body.alerts.find(({ id }: { id: string }) => id === alert.id)).toMatchObject({
    acknowledged: false,
  });
  expect((await outsider.request("GET", "/alerts")).body).toMatchObject({ alerts: [], total: 0 });
  expect([
    (await outsider.request("POST", `/alerts/${alert.id}/acknowledge`)).status,
    (await outsider.request("GET", `/alerts/group/${served.groupId}`)).status,
  ]).toEqual([404, 404]);
  const acknowledged = await member.request("POST", `/alerts/${alert.id}/acknowledge`);
  expect(acknowledged.body).toMatchObject({ id: alert.id, acknowledged: true });
  expect((await member.request("POST", `/alerts/${alert.id}/acknowledge`)).body).toEqual(acknowledged.body);
  expect(
    (await member.request("GET", `/alerts/group/${served.groupId}`)).body.alerts.find(({ id }: { id: string }) => id === alert.id),
  ).toMatchObject({ acknowledged: true, resolved: false });

  // A resolved alert is sent again, to each reader as it is in their list.
  const database = new pg.Client({ connectionString: world.databaseUrl });
  await database.connect();
  await database.query("UPDATE alerts SET resolved = true, resolved_at = now() WHERE id = $1", [alert.id]);
  await database.end();
  const over = await heard.next("alert");
  expect(over).toEqual(
    (await member.request("GET", `/alerts/group/${served.groupId}`)).body.alerts.find(({ id }: { id: string }) => id === alert.id),
  );
  expect(over).toMatchObject({ resolved: true, acknowledged: true });

  heard.close();
  unheard.close();
  const rows = await Promise.all(
    [heard, unheard].map(({ response }) => rowOf(world.admin, { correlation_id: response.headers.get("x-correlation-id") })),
  );
  for (const row of rows)
    expect(row).toMatchObject({
      proxy_type: "portal",
      proxy_subtype: "events",
      http_status_code: 200,
      success: true,
      error_type: null,
      llm_total_tokens: null,
      response_body_preview: null,
    });
});

test("a HEAD request opens no event stream and leaves a row like any call", async () => {
  const HEADS = 11;
  const asker = await newPerson(world.gateway.runtimeUrl, "asker");
  for (let i = 0; i < HEADS; i++) {
    const answer = await fetch(`${world.gateway.runtimeUrl}/v1/portal/events`, {
      method: "HEAD",
      headers: { authorization: `Bearer ${asker.token}` },
    });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  }
  const rows = await rowsOf(world.admin, { http_method: "HEAD", gateway_user_id: asker.id }, HEADS);
  expect([rows.length, rows[0].endpoint, rows[0].http_status_code]).toEqual([HEADS, "/v1/portal/events", 200]);
});

test("the eleventh event stream of a person ends the first", async () => {
  const streams = [];
  for (let i = 0; i < 11; i++) streams.push(await open(outsider));
  expect(await (streams[0] as Stream).ended()).toBe("event: ready\ndata: {}\n\n");
  expect(await rowOf(world.admin, { correlation_id: (streams[0] as Stream).response.headers.get("x-correlation-id") })).toMatchObject({
    success: true,
    http_status_code: 200,
  });
  expect(await (streams[10] as Stream).next("ready")).toEqual({});
  for (const stream of streams) stream.close();
});

test("a stopping gateway does not wait for open event streams", async () => {
  const other = await startWorld({ GW_DRAIN_SECONDS: "90" });
  const person = await newPerson(other.gateway.runtimeUrl, "late");
  const response = await fetch(`${other.gateway.runtimeUrl}/v1/portal/events`, { headers: { authorization: `Bearer ${person.token}` } });
  const began = performance.now();
  const [code, text] = await Promise.all([other.gateway.stop(), response.text()]);
  expect([code, text]).toEqual([0, "event: ready\ndata: {}\n\n"]);
  expect(performance.now() - began).toBeLessThan(60_000);
  await other.end();
});
