import { expect, test } from "bun:test";
import { isRefusal } from "../../../kernel/errors.ts";
import { DEFAULT_REQUEST } from "../../../wire/conversation/default-request.ts";
import type { ConversationRequest } from "../../../wire/conversation/request.ts";
import { geminiCodec } from "../../../wire/gemini/gemini-codec.ts";
import { media } from "./media.ts";

const MIB = 1024 * 1024;

function naming(addresses: number): ConversationRequest {
  const parts = Array.from({ length: addresses }, (_, at) => ({
    kind: "image",
    source: { url: `http://pictures/${at}` },
    mediaType: null,
  }));
  return { ...DEFAULT_REQUEST, turns: [{ role: "user", parts }] } as unknown as ConversationRequest;
}

test("all URLs of one request together may return only a limited amount of data", async () => {
  let fetched = 0;
  const { inlined } = media(async () => {
    fetched++;
    return new Response(new Uint8Array(20 * MIB));
  });
  expect(isRefusal(await inlined(naming(3), new AbortController().signal, () => true))).toBe(false);
  fetched = 0;
  const refused = await inlined(naming(100), new AbortController().signal, () => true);
  expect(isRefusal(refused) && [refused.code, refused.fields]).toEqual([
    "media_unavailable",
    [{ field: "http://pictures/3", message: expect.stringContaining("64 MiB") }],
  ]);
  expect(fetched).toBe(4);
});

test.each(["application/octet-stream", "binary/octet-stream; charset=utf-8", "Application/Octet-Stream", ""])(
  "an image served with content type %p is sent to Gemini with its real type",
  async (type) => {
    const png = Buffer.from("iVBORw0KGgoAAAANSUhEUg==", "base64");
    const { inlined } = media(async () => new Response(png, { headers: { "content-type": type } }));
    const request = await inlined(naming(1), new AbortController().signal, () => true);
    const written = isRefusal(request) ? null : geminiCodec.writeRequest(request, { name: "gemini-3-pro", maxOutputTokens: null } as never);
    expect(JSON.stringify(written)).toContain('"mimeType":"image/png"');
  },
);

test("nothing is fetched for a caller that has disconnected", async () => {
  let fetched = 0;
  const { inlined } = media(async () => {
    fetched++;
    return new Response("x");
  });
  expect(isRefusal(await inlined(naming(2), AbortSignal.abort("client_disconnected"), () => true))).toBe(true);
  expect(fetched).toBe(0);
});

test("fetched data counts against the memory limit as it arrives, and reading stops at the limit", async () => {
  let room = 3 * MIB;
  let read = 0;
  const { inlined } = media(async () => {
    const pieces = new ReadableStream<Uint8Array>({
      pull(controller) {
        read++;
        controller.enqueue(new Uint8Array(MIB));
      },
    });
    return new Response(pieces);
  });
  const refused = await inlined(naming(1), new AbortController().signal, (bytes) => (room -= bytes) >= 0);
  expect(refused).toMatchObject({ code: "too_many_uploads", headers: { "retry-after": "1" } });
  expect(read).toBeLessThan(8);
});
