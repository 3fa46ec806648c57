import { expect, test } from "bun:test";
import type { ApiFormat } from "@gatehouse/contracts/provider-formats";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import type { MediaFile } from "../../../kernel/files/media-file.ts";
import type { Call } from "../../../road/call.ts";
import { FileRoom } from "../../../road/request/file-room.ts";
import { sendPictures } from "../../../upstreams/providers/gemini/gemini.ts";
import type { ProviderRequest } from "../../../upstreams/providers/provider.ts";
import type { ProviderTraits } from "../../../upstreams/providers/traits.ts";
import { JsonDocument } from "../../../wire/json/document.ts";
import { geminiPictures } from "../../../wire/gemini/pictures.ts";
import { readImageEditRequest } from "../../../wire/images/read-image-edit.ts";
import { sentFile } from "../../../wire/http/sent-file.ts";
import { readVideosRequest, type VideosRequest } from "../../../wire/videos/videos-request.ts";
import { veoVideos } from "../../../wire/videos/veo-videos.ts";
import type { ImageEditRequest } from "../../../wire/images/image-edit-request.ts";
import type { DispatchParts } from "../dispatch.ts";
import { imagesModelRequest } from "../requests/images.ts";
import { videosModelRequest } from "../requests/videos.ts";

/** Pictures spooled to disk, for providers that take them in the body of a request. */

const MIB = 1024 * 1024;
let opened = 0;

function picture(bytes: number): MediaFile {
  const open = () => {
    opened++;
    return new Blob([new Uint8Array(bytes)]).stream();
  };
  return { name: "p.png", mimeType: "image/png", bytes, hash: "", seconds: null, open };
}

function partsWith(traits: Partial<ProviderTraits>): Pick<DispatchParts, "providers" | "room"> {
  const providers = { ["toy" as ApiFormat]: { traits, ask: async () => null } } as unknown as DispatchParts["providers"];
  return { providers, room: new FileRoom() };
}

const model = { modelName: "toy", provider: { apiFormat: "toy", storage: null } } as unknown as ModelEntry;
const callOf = (tenantId: string) => ({ identity: { tenantId }, whenEnded: [] }) as unknown as Call;
const call = callOf("any");

test("images larger than the provider's limit are refused before any of them is read", async () => {
  opened = 0;
  const edit = (bytes: readonly number[]) =>
    readImageEditRequest(
      new Map([
        ["model", "draws"],
        ["prompt", "Make it night"],
      ]),
      bytes.map((size) => sentFile("image[]", picture(size))),
      0,
    ) as ImageEditRequest;
  const prepared = (bytes: readonly number[]) =>
    imagesModelRequest(edit(bytes), partsWith({ pictures: () => geminiPictures })).prepare(call, model);
  const field = { field: "image", message: "is larger than 20 MiB in base64, which is all this model's provider takes" };
  expect(await prepared(Array.from({ length: 16 }, () => 50 * MIB))).toMatchObject({ code: "unsupported_parameter", fields: [field] });
  expect(await prepared([8 * MIB, 8 * MIB])).toMatchObject({ code: "unsupported_parameter", fields: [field] });
  expect(opened).toBe(0);
  expect(await prepared([7 * MIB, 7 * MIB])).toMatchObject({ operation: "gemini_images" });
  expect(opened).toBe(2);
});

test("the body for several requested images is held in memory only once", async () => {
  const edit = readImageEditRequest(
    new Map(Object.entries({ model: "draws", prompt: "Make it night", n: "10" })),
    [sentFile("image", picture(MIB))],
    0,
  );
  const prepared = await imagesModelRequest(edit as ImageEditRequest, partsWith({ pictures: () => geminiPictures })).prepare(call, model);
  const { body } = prepared as { body: string };
  expect(body.length).toBeLessThan(2 * MIB);
  const sent: string[] = [];
  const sendOne = async (one: string) => {
    sent.push(one);
    return { response: Response.json({}), requestId: null };
  };
  await sendPictures({ body, timeoutMs: 5_000 } as ProviderRequest, sendOne);
  expect(sent).toHaveLength(10);
  expect(new Set(sent).size).toBe(1);
  expect(JSON.parse(sent[0] as string)).toMatchObject({
    contents: [{ parts: [{ inlineData: { mimeType: "image/png" } }, { text: "Make it night" }] }],
  });
});

test("the start image of a video is refused if larger than the provider's limit", async () => {
  opened = 0;
  const document = JsonDocument.read(new TextEncoder().encode('{"model":"films","prompt":"A lighthouse"}')) as JsonDocument;
  const submission = { leaving: async () => null, unsure: () => undefined };
  const prepared = (bytes: number) =>
    videosModelRequest(
      readVideosRequest(document, picture(bytes), null) as VideosRequest,
      submission,
      partsWith({ videos: () => veoVideos }),
    ).prepare(call, model);
  const field = { field: "input_reference", message: "is larger than 20 MiB, which is all this model's provider takes" };
  expect(await prepared(50 * MIB)).toMatchObject({ code: "unsupported_parameter", fields: [field] });
  expect(opened).toBe(0);
  expect(await prepared(MIB)).toMatchObject({ operation: veoVideos.operation });
  expect(opened).toBe(1);
});

test("images of concurrent requests are limited in memory until their calls end, each tenant separately", async () => {
  const fields = new Map(Object.entries({ model: "draws", prompt: "Make it night" }));
  const parts = partsWith({ pictures: () => geminiPictures });
  const prepared = (one: Call) => {
    const edit = readImageEditRequest(fields, [sentFile("image", picture(14 * MIB))], 0) as ImageEditRequest;
    return imagesModelRequest(edit, parts).prepare(one, model);
  };
  const calls = Array.from({ length: 9 }, () => callOf("busy"));
  for (const one of calls) expect(await prepared(one)).toMatchObject({ operation: "gemini_images" });
  opened = 0;
  expect(await prepared(callOf("busy"))).toMatchObject({ code: "too_many_uploads", headers: { "retry-after": "1" } });
  expect(opened).toBe(0);
  expect(await prepared(callOf("other"))).toMatchObject({ operation: "gemini_images" });
  for (const ended of calls[0]?.whenEnded ?? []) ended(null);
  expect(await prepared(callOf("busy"))).toMatchObject({ operation: "gemini_images" });
});

test("a retried call holds the memory for its images only once", async () => {
  const fields = new Map(Object.entries({ model: "draws", prompt: "Make it night" }));
  const parts = partsWith({ pictures: () => geminiPictures });
  const edit = readImageEditRequest(fields, [sentFile("image", picture(14 * MIB))], 0) as ImageEditRequest;
  const request = imagesModelRequest(edit, parts);
  const tried = callOf("busy");
  for (let attempt = 0; attempt < 12; attempt++) expect(await request.prepare(tried, model)).toMatchObject({ operation: "gemini_images" });
  for (const ended of tried.whenEnded) ended(null);
  expect(parts.room.hold(callOf("busy"), 128 * MIB)).toBe(true);
});
