import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PIXEL } from "./painters.ts";

export const PICTURE_USAGE = {
  input_tokens: 20,
  input_tokens_details: { text_tokens: 20, image_tokens: 0 },
  output_tokens: 1_000,
  total_tokens: 1_020,
};

/** A server with OpenAI's streaming image API, implemented from its documentation: the model name selects the answer. */
export async function startStreamingPainter() {
  const seen: { readonly path: string; readonly body: string }[] = [];
  let goOn: () => void = () => undefined;
  let gone: () => void = () => undefined;
  const left = new Promise<void>((resolve) => (gone = resolve));
  const server = createServer((request, response) => {
    void answer(request, response);
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces).toString("latin1");
    seen.push({ path: request.url as string, body });
    const edits = request.url?.endsWith("/edits") === true;
    const model = edits ? (/name="model"\r\n\r\n([\w.-]+)/.exec(body)?.[1] ?? "") : JSON.parse(body).model;
    const kind = edits ? "image_edit" : "image_generation";
    const settings = { created_at: 1, size: "1024x1024", quality: "low", background: "opaque", output_format: "png" };
    const event = (what: string, more: object = {}) => {
      const type = `${kind}.${what}`;
      return response.write(`event: ${type}\ndata: ${JSON.stringify({ type, b64_json: PIXEL, ...settings, ...more })}\n\n`);
    };
    if (model === "whole") {
      response.writeHead(200, { "content-type": "application/json" });
      return void response.end(JSON.stringify({ created: 7, data: [{ b64_json: PIXEL }, { b64_json: PIXEL }], usage: PICTURE_USAGE }));
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.on("close", () => {
      if (model === "left") gone();
    });
    if (model === "failing-first") return fail();
    if (model === "huge") {
      response.write(`data: {"type":"${kind}.partial_image","b64_json":"`);
      const piece = "A".repeat(1024 * 1024);
      while (!response.destroyed) await new Promise<void>((resolve) => response.write(piece, () => resolve()));
      return;
    }
    event("partial_image", { partial_image_index: 0 });
    if (model === "slow" || model === "torn") await new Promise<void>((resolve) => (goOn = resolve));
    if (model === "torn") return void response.destroy();
    if (model === "left") return;
    if (model === "short") return void response.end();
    if (model === "failing") return fail();
    const words = model === "revising" ? { revised_prompt: "A boat of joe@example.com" } : {};
    event("completed", { usage: PICTURE_USAGE, ...words });
    if (model === "several") {
      event("partial_image", { partial_image_index: 0 });
      event("completed", { usage: PICTURE_USAGE });
    }
    response.end();

    function fail(): void {
      const error = { type: "image_generation_server_error", code: "moderation_blocked", message: "The picture was blocked." };
      response.end(`event: error\ndata: ${JSON.stringify({ type: "error", error })}\n\n`);
    }
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    seen,
    left,
    goOn: () => goOn(),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
