import { afterAll, beforeAll, expect, test } from "bun:test";
import { events } from "../../support/tool-servers/scripted-tool-server.ts";
import { inSession, type OddServers, startOddServers } from "../../support/tool-servers/odd-servers.ts";
import { grant, handshakeClient, newTeam, textOf } from "./mcp-harness.ts";

/** A server that keeps no sessions numbers its events for all callers alike, and replays whatever follows the number it is asked for. */
let odd: OddServers;
let id: string;
let asked: unknown = null;

beforeAll(async () => {
  odd = await startOddServers();
  ({ id } = await odd.serve("numbered", "handshake", (message, request) => {
    if (message?.method === "initialize")
      return { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "numbered", version: "1" } };
    if (message?.method === "tools/call") {
      asked = message.id;
      return events("id: 7\r\nretry: 10\r\ndata: \r\n\r\n");
    }
    const from = request.headers.get("last-event-id");
    if (from !== "7") return undefined;
    const result = { content: [{ type: "text", text: "for its caller" }] };
    return events(`event: message\nid:8\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: asked, result })}\n\n`);
  }));
});
afterAll(() => odd.end());

const resume = (apiKey: string, eventId: string) =>
  fetch(odd.at(id), { headers: { accept: "text/event-stream", "x-api-key": apiKey, "last-event-id": eventId } });
const idIn = (text: string) => /^id: (.*)$/m.exec(text)?.[1]?.trim() ?? "";

test("the official client resumes an answer that a server without sessions broke off", async () => {
  const client = await handshakeClient(odd.at(id), odd.team.apiKey);
  expect(textOf(await client.callTool({ name: "open", arguments: {} }))).toBe("for its caller");
  await client.close();
});

test("nobody resumes the stream of another caller at a server without sessions", async () => {
  const { admin } = odd.world;
  const other = await newTeam(admin, "another");
  await grant(admin, "another numbered", id, [other.groupId]);
  const asking = await fetch(odd.at(id), {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", "x-api-key": odd.team.apiKey },
    body: JSON.stringify(inSession(1, "tools/call", { name: "open", arguments: {} })),
  });
  const eventId = idIn(await asking.text());
  const own = await resume(odd.team.apiKey, eventId);
  const replayed = await own.text();
  expect([own.status, replayed]).toEqual([200, expect.stringContaining("for its caller")]);
  expect([eventId, idIn(replayed)]).not.toContain("7");
  for (const [apiKey, told] of [
    [other.apiKey, eventId],
    [other.apiKey, "7"],
    [odd.team.apiKey, "7"],
    [odd.team.apiKey, `${eventId.split(".")[0]}.`],
  ] as const) {
    const refused = await resume(apiKey, told);
    expect([refused.status, await refused.text()]).toEqual([404, expect.stringContaining("event_not_found")]);
  }
});
