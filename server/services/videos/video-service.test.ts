import { expect, test } from "bun:test";
import type { VideoJob } from "../../directory/videos/video-store.ts";
import type { Call } from "../../road/call.ts";
import { interactionsVideos } from "../../wire/videos/interactions-videos.ts";
import { openaiVideos } from "../../wire/videos/openai-videos.ts";
import type { ProviderAsk, VideoCodec } from "../../wire/videos/video-codec.ts";
import { VideoService } from "./video-service.ts";

const RUNNING = { id: "vid_1", object: "video", status: "in_progress" };

/** The answer to a cancellation, whether the job is stored as cancelled, and the methods of the requests to its provider. */
async function cancelled(codec: VideoCodec, answers: Readonly<Partial<Record<ProviderAsk["method"], readonly [number, object]>>>) {
  const methods: string[] = [];
  const provider = {
    traits: { videos: () => codec },
    url: () => "http://provider",
    async ask(_target: unknown, { method }: ProviderAsk) {
      methods.push(method);
      const [status, body] = answers[method] ?? [500, {}];
      return { response: Response.json(body, { status }) };
    },
  };
  const job = { id: "video_1", tenant_id: "t", model_id: "m", upstream_id: "vid_1", status: "in_progress", ended_at: null } as VideoJob;
  let isKept = false;
  const videos = new VideoService({
    store: { find: async () => job, cancel: async () => ((isKept = true), { ...job, status: "cancelled" }) },
    runner: { wake: () => undefined },
    providers: { openai: provider },
    models: { find: async () => ({ provider: { apiFormat: "openai" } }) },
    begin: () => undefined,
    now: Date.now,
  } as never);
  const outcome = await videos.cancel({ row: {} } as Call, {} as never, "video_1");
  return { outcome: "code" in outcome ? outcome.code : outcome.status, isKept, methods };
}

test("a running job is cancelled at its provider", async () => {
  expect(await cancelled(openaiVideos, { GET: [200, RUNNING], DELETE: [200, { id: "vid_1", deleted: true }] })).toEqual({
    ...{ outcome: "cancelled", isKept: true, methods: ["GET", "DELETE"] },
  });
});

test("a video already completed at its provider is not deleted by a late cancellation", async () => {
  const ready = { ...RUNNING, status: "completed" };
  expect(await cancelled(openaiVideos, { GET: [200, ready], DELETE: [200, { id: "vid_1", deleted: true }] })).toEqual({
    ...{ outcome: "video_ended", isKept: false, methods: ["GET"] },
  });
});

test("a job is not reported as cancelled if its provider does not support cancellation", async () => {
  expect(await cancelled(openaiVideos, { GET: [200, RUNNING], DELETE: [404, {}] })).toMatchObject({
    ...{ outcome: "video_not_cancellable", isKept: false },
  });
});

test("a job whose state cannot be read is not cancelled at its provider", async () => {
  expect(await cancelled(openaiVideos, { GET: [503, {}], DELETE: [200, {}] })).toEqual({
    ...{ outcome: "video_not_cancellable", isKept: false, methods: ["GET"] },
  });
});

test("a job that its provider completed before the cancellation counts as ended", async () => {
  const answers = {
    GET: [200, { id: "vid_1", status: "in_progress" }],
    POST: [200, { id: "vid_1", status: "completed", steps: [] }],
  } as const;
  const uri = "http://provider/v";
  const made = { ...answers.POST[1], steps: [{ type: "model_output", content: [{ type: "video", mime_type: "video/mp4", uri }] }] };
  expect(await cancelled(interactionsVideos, { ...answers, POST: [200, made] })).toMatchObject({ outcome: "video_ended", isKept: false });
});
