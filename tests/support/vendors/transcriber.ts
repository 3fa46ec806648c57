import { createHash } from "node:crypto";

/** A form as parsed by the vendor. */
export interface HeardForm {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly fields: readonly (readonly [string, string])[];
  readonly file: { readonly name: string; readonly type: string; readonly bytes: number; readonly sha256: string };
}

/** A server with OpenAI's audio API, implemented from its documentation: the model name selects the answer. */
export function startTranscriber() {
  const heard: HeardForm[] = [];
  let goOn: () => void = () => undefined;
  const said = "Mail joe@example.com or call 415 555 2671 tomorrow";
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const form = await request.formData();
      const file = form.get("file") as File;
      const bytes = Buffer.from(await file.arrayBuffer());
      heard.push({
        path: new URL(request.url).pathname,
        headers: Object.fromEntries(request.headers),
        fields: [...form.entries()].flatMap(([name, value]) => (typeof value === "string" ? [[name, value] as const] : [])),
        file: { name: file.name, type: file.type, bytes: bytes.byteLength, sha256: createHash("sha256").update(bytes).digest("hex") },
      });
      const model = form.get("model");
      if (model === "down") return Response.json({ error: { message: "down" } }, { status: 503 });
      if (form.get("stream") === "true" && model !== "whisper-1") return streamed(said, (open) => (goOn = open), model === "slow");
      if (form.get("response_format") === "verbose_json")
        return Response.json({
          task: "transcribe",
          language: "english",
          duration: 3,
          text: said,
          segments: [
            { id: 0, start: 0, end: 1.25, text: " Mail joe@example.com or call 415 555", tokens: [1] },
            { id: 1, start: 1.25, end: 3.004, text: "2671 tomorrow", tokens: [2] },
          ],
          ...(model === "silent-1" ? {} : { usage: { type: "duration", seconds: 3 } }),
        });
      if (model === "silent-1") return Response.json({ text: said });
      const usage =
        model === "gpt-transcribe"
          ? {
              type: "tokens",
              input_tokens: 40,
              input_token_details: { audio_tokens: 30, text_tokens: 10 },
              output_tokens: 9,
              total_tokens: 49,
            }
          : { type: "duration", seconds: 3 };
      return Response.json({ text: said, usage });
    },
  });
  return { baseUrl: `http://127.0.0.1:${server.port}/v1`, heard, goOn: () => goOn(), stop: () => server.stop(true) };
}

function streamed(said: string, waiting: (open: () => void) => void, slow: boolean): Response {
  const half = Math.floor(said.length / 2);
  const event = (body: object) => new TextEncoder().encode(`data: ${JSON.stringify(body)}\n\n`);
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(event({ type: "transcript.text.delta", delta: said.slice(0, half) }));
      if (slow) await new Promise<void>((resolve) => waiting(resolve));
      controller.enqueue(event({ type: "transcript.text.delta", delta: said.slice(half), logprobs: [{ token: said, logprob: 0 }] }));
      const usage = { type: "tokens", input_tokens: 40, input_token_details: { audio_tokens: 30, text_tokens: 10 }, output_tokens: 9 };
      controller.enqueue(event({ type: "transcript.text.done", text: said, usage }));
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
