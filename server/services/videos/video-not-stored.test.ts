import { expect, test } from "bun:test";
import { refuse } from "../../kernel/errors.ts";
import { VideoRunner, type VideoRunnerParts } from "./video-runner.ts";

const LAST_TRY = 39;

/** What is written for a job whose video is ready but cannot be stored, for this reason. */
async function writtenWhen(code: "too_many_uploads" | "files_unavailable"): Promise<unknown[]> {
  const written: unknown[] = [];
  const done = Promise.withResolvers<void>();
  const write = (what: string) => async (_runner: string, _id: string, said: object) => {
    written.push([what, said]);
    done.resolve();
    return false;
  };
  const job = {
    ...{ id: "video_1", tenant_id: "t", upstream_id: "u", ended_at: null, failures: LAST_TRY, seconds: 4, source_seconds: null },
    ...{ expires_at: new Date(Date.now() + 3_600_000), prices: { prices: {}, tiers: [] }, resolution: null, model_id: "m" },
  };
  const ready = { state: "completed", progress: 100, error: null, output: { kind: "bytes", base64: "" }, usage: null, seconds: 4 };
  const codec = { operation: "videos", ask: () => ({ method: "GET", path: "/" }), read: () => ready };
  const provider = { traits: { videos: () => codec }, url: () => "", ask: async () => ({ response: Response.json({}), requestId: null }) };
  const runner = new VideoRunner({
    store: { adopt: async () => [], due: async () => [job], note: write("note"), end: write("end"), keepAlive: async () => undefined },
    files: { receive: async () => refuse(code) },
    models: { find: async () => ({ provider: { apiFormat: "toy" } }) },
    providers: { toy: provider },
    tenant: async () => ({}),
    recording: () => true,
    ...{ now: Date.now, random: () => 0.5, log: { warn: () => undefined } },
  } as unknown as VideoRunnerParts);
  await runner.poll();
  await done.promise;
  return written;
}

test("a video waits while its tenant has too many uploads in progress, and does not fail because of them", async () => {
  expect(await writtenWhen("too_many_uploads")).toEqual([["note", { failures: LAST_TRY, afterMs: 20_000 }]]);
  expect(await writtenWhen("files_unavailable")).toMatchObject([["end", { status: "failed", error: { code: "files_unavailable" } }]]);
});
