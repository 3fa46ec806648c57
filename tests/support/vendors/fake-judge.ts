/**
 * A fake judge model: it takes the last word of the rule from the prompt, and looks for it between the marks of the text. A few words in
 * the text make it fail.
 */
export interface FakeJudge {
  readonly baseUrl: string;
  /** Bodies received. */
  readonly seen: string[];
  stop(): Promise<void>;
}

export function startFakeJudge(): FakeJudge {
  const seen: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const body = await request.text();
      seen.push(body);
      const [system, user] = (JSON.parse(body) as { messages: { content: string }[] }).messages.map(({ content }) => content) as [
        string,
        string,
      ];
      const rule = /<rule-(\w+)>\n(.*)\n<\/rule-\1>/s.exec(user)?.[2] ?? "";
      const text = /<text-(\w+)>\n(.*)\n<\/text-\1>/s.exec(user)?.[2] ?? "";
      const check = /"check": "(\w+)"/.exec(system)?.[1] ?? "";
      if (text.includes("broken-judge")) return Response.json({ error: { message: "out of order" } }, { status: 500 });
      if (text.includes("slow-judge")) return new Promise<Response>(() => undefined);
      const word = (/(\w+)s\W*$/.exec(rule)?.[1] ?? "").toLowerCase();
      const verdict = { check, reason: "it was looked at", verdict: text.toLowerCase().includes(word) ? "violation" : "compliant" };
      const content = text.includes("vague-judge")
        ? "Well, it depends."
        : text.includes("echo-judge")
          ? `You said: ${text}`
          : JSON.stringify(verdict);
      return Response.json({
        id: "judged",
        object: "chat.completion",
        created: 1763712000,
        model: "judge-1",
        choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
        usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
      });
    },
  });
  return { baseUrl: `http://127.0.0.1:${server.port}/v1`, seen, stop: () => server.stop(true) };
}
