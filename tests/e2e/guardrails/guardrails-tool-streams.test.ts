import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf } from "../../support/worlds/admin.ts";
import { inSession, startOddServers, type OddServers } from "../../support/tool-servers/odd-servers.ts";
import { rawStream } from "../../support/formats/raw-stream.ts";
import { grant, newTeam, post } from "../tools/mcp-harness.ts";

/** Guardrails on answers that arrive on a session's stream, where nothing says which request they belong to. */
let odd: OddServers;
const utf8 = new TextEncoder();

beforeAll(async () => {
  odd = await startOddServers();
  await odd.world.admin.post("/v1/admin/guardrails/configs", {
    tenant_id: "default",
    name: "answers",
    surfaces: { mcp_output: true },
    builtin: { pii_enabled: true, pii_action: "redact", banned_words: ["project titan"], banned_words_action: "block" },
  });
});
afterAll(() => odd.end());

/** Calls a tool whose answer arrives on the session's stream, opening it before `begun`; resolves with the stream's text. */
async function answeredOnStream(id: string, apiKey: string, begun: Promise<unknown>): Promise<string> {
  const init = await post(odd.at(id), apiKey, {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
  });
  const session = { "mcp-session-id": init.headers.get("mcp-session-id") ?? "" };
  const stream = odd.closing(rawStream(odd.at(id), "GET", { accept: "text/event-stream", "x-api-key": apiKey, ...session }));
  await begun;
  const asked = await post(odd.at(id), apiKey, inSession(1, "tools/call", { name: "open", arguments: {} }), session);
  expect(asked.status).toBe(202);
  await stream.until('"method":"notifications/over"');
  // The stream's row is written when it ends.
  stream.close();
  return stream.text();
}

async function serverThatAnswers(name: string, result: object) {
  let opened: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (opened = resolve));
  let feed: ReadableStreamDefaultController<Uint8Array> | null = null;
  const { id } = await odd.serve(name, "handshake", (message, request) => {
    if (request.method === "GET") {
      const body = new ReadableStream<Uint8Array>({ start: (controller) => void (feed = controller) });
      opened();
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    }
    if (message?.method !== "tools/call") return undefined;
    for (const said of [
      { jsonrpc: "2.0", id: message.id, result },
      { jsonrpc: "2.0", method: "notifications/over" },
    ])
      feed?.enqueue(utf8.encode(`data: ${JSON.stringify(said)}\n\n`));
    return new Response(null, { status: 202 });
  });
  return { id, begun };
}

const BESIDE = [
  ["a list of tools", { tools: [] }],
  ["instructions", { instructions: "Call open first." }],
  ["tools and instructions", { tools: [{ name: "open", inputSchema: { type: "object" } }], instructions: "Call open first." }],
] as const;

test.each(BESIDE)("a tool result on the session's stream is inspected also with %s beside it", async (name, beside) => {
  const blocked = await serverThatAnswers(`blocked, ${name}`, { content: [{ type: "text", text: "It is project titan." }], ...beside });
  const refused = await answeredOnStream(blocked.id, odd.team.apiKey, blocked.begun);
  expect(refused).not.toContain("titan");
  expect(refused).toContain('"code":"guardrail_blocked"');

  const redacted = await serverThatAnswers(`redacted, ${name}`, { content: [{ type: "text", text: "Mail joe@example.com" }], ...beside });
  const said = await answeredOnStream(redacted.id, odd.team.apiKey, redacted.begun);
  expect(said).toContain('"text":"Mail [REDACTED:email]"');
  for (const member of Object.keys(beside)) expect(said).toContain(`"${member}":`);
  expect((await rowOf(odd.world.admin, { server_id: redacted.id, guardrail_action: "redact" })).guardrail_check).toBe("pii");
});

test("a tool result on the session's stream with tools beside it is held to the result size limits", async () => {
  const { id, begun } = await serverThatAnswers("large", { content: [1, 2, 3].map((n) => ({ type: "text", text: String(n) })), tools: [] });
  const { admin } = odd.world;
  const team = await newTeam(admin, "small answers");
  await grant(admin, "small answers", id, [team.groupId]);

  const data = { max_items_per_response: 2 };
  await admin.request("PATCH", `/v1/admin/resource-groups/${team.groupId}/mcp-servers/${id}/limits`, { limits: { data } });
  expect(await answeredOnStream(id, team.apiKey, begun)).toContain('"code":"tool_result_too_large"');
});
