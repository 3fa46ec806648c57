import { expect, test } from "bun:test";
import { isRefusal } from "../../kernel/errors.ts";
import type { AgentAddress } from "./agent-address.ts";
import { AgentAuthorization } from "./agent-credentials.ts";
import type { AgentSend } from "./agent-send.ts";

/** A token endpoint that sends its head, then single bytes at intervals. */
const trickling: AgentSend = async ({ abort }) => {
  let timer: Timer | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      timer = setInterval(() => controller.enqueue(new Uint8Array([32])), 10);
      abort.signal.addEventListener("abort", () => clearInterval(timer), { once: true });
    },
    cancel: () => clearInterval(timer),
  });
  return new Response(body);
};

test("an agent's token endpoint that never finishes its response times out, and is asked again by the next call", async () => {
  let asked = 0;
  const authorization = new AgentAuthorization((request) => {
    asked++;
    return trickling(request);
  });
  const address = { authType: "oauth_client", credentials: { token_url: "http://issuer/token" }, timeoutMs: 50 } as unknown as AgentAddress;
  for (let i = 1; i <= 2; i++) {
    const headers = await authorization.headers(address);
    expect(isRefusal(headers) ? [headers.code, headers.reason] : headers).toEqual([
      "upstream_auth_failed",
      "the token did not come in time",
    ]);
    expect(asked).toBe(i);
  }
});
