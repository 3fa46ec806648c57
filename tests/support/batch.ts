import { ANSWER_TEXT } from "./fake-upstream.ts";
import { PATIENCE_MS } from "./patience.ts";

/** A caller of batch jobs. */
export function batchCaller(runtimeUrl: string, apiKey: string) {
  async function send(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) {
    const response = await fetch(`${runtimeUrl}${path}`, {
      method,
      headers: { "x-api-key": apiKey, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const answered = response.headers.get("content-type") === "application/json" ? JSON.parse(text) : null;
    return { status: response.status, headers: response.headers, text, body: answered };
  }
  const job = (id: string) => send("GET", `/v1/proxy/batch/jobs/${id}`).then(({ body }) => body);
  return {
    send,
    job,
    submit: (body: object, headers?: Readonly<Record<string, string>>) => send("POST", "/v1/proxy/batch/jobs", body, headers),
    /** The job once it `holds`; by default once it is over. */
    async until(id: string, holds: (found: any) => boolean = (found) => found.ended_at !== null): Promise<any> {
      for (let last: any, end = Date.now() + PATIENCE_MS; ; await new Promise((resolve) => setTimeout(resolve, 20))) {
        last = await job(id);
        if (holds(last)) return last;
        if (Date.now() > end) throw new Error(`it never came to hold: ${JSON.stringify(last)}`);
      }
    },
    results: (id: string) =>
      send("GET", `/v1/proxy/batch/jobs/${id}/results`).then(({ text }) =>
        text
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line)),
      ),
  };
}

export const chatLines = (count: number, content: (at: number) => string = (at) => `line ${at}`) =>
  Array.from({ length: count }, (_, at) => ({ custom_id: `c${at}`, body: { messages: [{ role: "user", content: content(at) }] } }));

/** A provider that answers only once it is told to, and knows what it was asked. */
export function heldUpstream() {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const asked: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      asked.push(await request.text());
      await released;
      return new Response(ANSWER_TEXT, { headers: { "content-type": "application/json" } });
    },
  });
  return { baseUrl: `http://127.0.0.1:${server.port}/v1`, asked, release, stop: () => server.stop(true) };
}
