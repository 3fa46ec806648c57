import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type OddServers, startOddServers } from "../support/odd-servers.ts";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { signInAsApprover } from "../support/admin.ts";
import { handshakeClient, textOf } from "./mcp-harness.ts";

/** What a tool server wrote is handed on as it wrote it, also where the gateway writes something else anew beside it. */
let odd: OddServers;

beforeAll(async () => {
  odd = await startOddServers();
});
afterAll(() => odd.end());

describe("an answer that its server wrote over several lines", () => {
  const lines = (id: unknown) =>
    `{\n  "jsonrpc": "2.0",\r\n  "id": ${JSON.stringify(id)},\n  "result": {\n    "content": [{ "type": "text", "text": "whole" }]\n  }\n}\n`;
  const pretty = (id: unknown) => new Response(lines(id), { headers: { "content-type": "application/json" } });

  test("reaches a client whose call waited for an approval", async () => {
    const { id } = await odd.serve(
      "pretty, held",
      "handshake",
      (message) => (message?.method === "tools/call" ? pretty(message.id) : undefined),
      { approval_required_tools: ["open"] },
    );
    const approver = await signInAsApprover(odd.world.gateway.adminUrl, odd.world.admin);
    const client = new Client({ name: "first", version: "1" }, { capabilities: { elicitation: { url: {} } } });
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      const approval = /approvals\/([0-9a-f-]{36})\/page/.exec((params as { url: string }).url)?.[1];
      await approver.post(`/v1/admin/approvals/${approval}/approve`, {});
      return { action: "accept" };
    });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(odd.at(id)), { requestInit: { headers: { "x-api-key": odd.team.apiKey } } }) as never,
    );
    expect(textOf(await client.callTool({ name: "open", arguments: {} }))).toBe("whole");
    await client.close();
  });

  test("reaches a client that was told of progress before", async () => {
    let tell: (text: string) => void = () => undefined;
    const { id } = await odd.serve("pretty, told", "handshake", async (message, { method }) => {
      if (method === "GET")
        return new Response(
          new ReadableStream({
            start(controller) {
              tell = (text) => controller.enqueue(new TextEncoder().encode(text));
              tell(": open\n\n");
            },
          }),
          { headers: { "content-type": "text/event-stream" } },
        );
      if (message?.method !== "tools/call") return undefined;
      const { progressToken } = message.params._meta;
      tell(`data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 1 } })}\n\n`);
      await Bun.sleep(100);
      return pretty(message.id);
    });
    const { id: virtualId } = await odd.world.admin.post("/v1/admin/virtual-servers", {
      tenant_id: "default",
      name: "pretty, told",
      members: [{ mcp_server_id: id, slug: "m" }],
      group_ids: [odd.team.groupId],
    });
    const client = await handshakeClient(`${odd.world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtualId}`, odd.team.apiKey);
    let told = 0;
    const answer = await client.callTool({ name: "m__open", arguments: {} }, undefined, { onprogress: () => void told++ });
    expect([told, textOf(answer)]).toEqual([1, "whole"]);
    await client.close();
  });
});
