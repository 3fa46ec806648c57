/**
 * The minimal proxy in this language: read the body, parse it, forward it, pass the answer through. The baseline for the overhead of any
 * gateway.
 */
const upstream = process.argv[2] as string;

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 60,
  async fetch(request) {
    const text = await request.text();
    JSON.parse(text);
    const { pathname } = new URL(request.url);
    const answer = await fetch(upstream + pathname, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer sk-bench-upstream" },
      body: text,
    });
    return new Response(answer.body, {
      status: answer.status,
      headers: { "content-type": answer.headers.get("content-type") ?? "application/json" },
    });
  },
});

process.on("disconnect", () => process.exit(0));
process.send?.({ port: server.port });
