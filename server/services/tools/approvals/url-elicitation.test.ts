import { expect, test } from "bun:test";
import type { Call } from "../../../road/call.ts";
import type { ToolParts } from "../tool-parts.ts";
import type { ToolRequest } from "../tool-request.ts";
import { toolServerState } from "../definitions/tool-server-state.ts";
import { urlElicitation } from "./url-elicitation.ts";

test("an approval given after the caller disconnected is not used up", async () => {
  const call = { headers: new Headers({ "mcp-session-id": "s" }), abort: new AbortController() } as unknown as Call;
  const parts = {
    memory: toolServerState(),
    processMessages: { wait: () => () => undefined },
    secrets: { hmac: () => "0".repeat(64) },
  } as unknown as ToolParts;
  const polled = Promise.withResolvers<void>();
  let polls = 0;
  const look = async () => {
    polls++;
    polled.resolve();
    return polls === 1 ? ("wait" as const) : null;
  };
  const question = { mode: "url", elicitationId: "e", url: "https://gateway.example/page", message: "Open it." } as const;
  const never = () => {
    throw new Error("it was answered");
  };
  const asked = urlElicitation(call, { message: { id: 1 } } as unknown as ToolRequest, question, look, never, parts);
  await asked.next();
  const next = asked.next();
  await polled.promise;
  call.abort.abort("client_disconnected");
  expect(await next).toMatchObject({ done: true, value: { code: "upstream_interrupted", reason: "client_disconnected" } });
  expect(polls).toBe(1);
});
