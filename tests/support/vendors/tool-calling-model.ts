/**
 * A fake model: on "call NAME {arguments}" it streams a call of that tool, on a tool result it repeats the result, and everything else it
 * echoes.
 */
export interface ToolCallingModel {
  readonly baseUrl: string;
  /** Bodies received. */
  readonly seen: any[];
  stop(): Promise<void>;
}

const chunk = (delta: unknown, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({
    id: "chatcmpl-calling",
    object: "chat.completion.chunk",
    created: 1,
    model: "calling",
    choices: [{ index: 0, delta, finish_reason }],
  })}\n\n`;

function framesFor(messages: readonly any[]): string {
  const last = messages.at(-1);
  const said = typeof last.content === "string" ? last.content : "";
  const asked = last.role === "user" ? [...said.matchAll(/call (\S+) (\{.*?\})(?:;|$)/g)] : [];
  if (asked.length === 0) {
    const told = last.role === "tool" ? `The tool said: ${said}` : said;
    return chunk({ role: "assistant", content: "" }) + chunk({ content: told }) + chunk({}, "stop");
  }
  const calls = asked.map(([, name, given = ""], index) => {
    const half = Math.floor(given.length / 2);
    const id = `call_${messages.length}_${index}`;
    return (
      chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: given.slice(0, half) } }] }) +
      chunk({ tool_calls: [{ index, function: { arguments: given.slice(half) } }] })
    );
  });
  return chunk({ role: "assistant", content: "Let me look." }) + calls.join("") + chunk({}, "tool_calls");
}

export function startToolCallingModel(): ToolCallingModel {
  const seen: any[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const body = (await request.json()) as any;
      seen.push(body);
      return new Response(`${framesFor(body.messages)}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
    },
  });
  return { baseUrl: `http://127.0.0.1:${server.port}/v1`, seen, stop: () => server.stop(true) };
}
