/**
 * A video server with the APIs of OpenAI, Google's Interactions and Veo on Vertex, implemented from their documentation and sharing no code
 * with the gateway. It records requests and can misbehave on command.
 */

export interface MadeJob {
  readonly id: string;
  readonly asked: Record<string, any>;
  readonly form: "openai" | "interactions" | "veo";
  readonly begunAt: number;
  polls: number;
  downloads: number;
  cancelled: boolean;
  /** Total length in seconds, if a video extends another one. */
  long?: number;
}

export interface VideoFaults {
  /**
   * Called for each request before it is answered: `lose` does what was asked and never answers, `refuse` answers 503, `tear` sends half of
   * a video.
   */
  fault?(what: "submit" | "poll" | "content", job: MadeJob): "lose" | "refuse" | "tear" | "stale" | null;
  /** Milliseconds until a job is done. */
  takes?(job: MadeJob): number;
  /** How a job ends. */
  outcome?(job: MadeJob): "completed" | "failed" | "nothing";
  /** Why it refuses to make a video. */
  refusal?: string;
  cancels?: boolean;
}

/** The head of an MP4 file followed by as many bytes as wanted, different for each name. */
export function videoBytesOf(name: string, size = 4_096): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  bytes.set([0, 0, 0, 0x18, 0x66, 0x74, 0x79, 0x70, 0x69, 0x73, 0x6f, 0x6d, 0, 0, 2, 0, 0x69, 0x73, 0x6f, 0x6d, 0x6d, 0x70, 0x34, 0x32]);
  bytes.set(new TextEncoder().encode(name), 24);
  return bytes;
}

export function startVideoVendor(faults: VideoFaults = {}) {
  const jobs = new Map<string, MadeJob>();
  const seen: { method: string; path: string; headers: Record<string, string> }[] = [];
  let lastId = 0;
  const never = () => new Promise<Response>(() => undefined);
  const begin = (form: MadeJob["form"], asked: Record<string, any>): MadeJob => {
    lastId++;
    const job: MadeJob = {
      id: form === "veo" ? `projects/p/locations/l/operations/op-${lastId}` : `vid_${lastId}`,
      ...{ asked, form, begunAt: Date.now(), polls: 0, downloads: 0, cancelled: false },
    };
    jobs.set(job.id, job);
    return job;
  };
  const isDone = (job: MadeJob) => Date.now() - job.begunAt >= (faults.takes?.(job) ?? 0);
  const outcomeOf = (job: MadeJob) => faults.outcome?.(job) ?? "completed";
  const told = (job: MadeJob, stale: boolean): object => {
    const done = !stale && isDone(job);
    const outcome = outcomeOf(job);
    switch (job.form) {
      case "openai":
        return {
          ...{ id: job.id, object: "video", model: job.asked.model, created_at: Math.floor(job.begunAt / 1000), prompt: job.asked.prompt },
          ...{ seconds: String(job.long ?? job.asked.seconds ?? "4"), size: job.asked.size ?? "720x1280", progress: done ? 100 : 20 },
          status: job.cancelled ? "cancelled" : !done ? "in_progress" : outcome === "completed" ? "completed" : "failed",
          ...(done && outcome !== "completed" && { error: { code: "moderation_blocked", message: faults.refusal ?? "Not that" } }),
        };
      case "interactions":
        return {
          ...{ id: job.id, model: job.asked.model, status: job.cancelled ? "cancelled" : !done ? "in_progress" : "completed" },
          ...(done &&
            outcome === "completed" && {
              steps: [
                {
                  type: "model_output",
                  content: [{ type: "video", mime_type: "video/mp4", uri: `${origin()}/v1beta/files/${job.id}:download?alt=media` }],
                },
              ],
              usage: {
                ...{ total_input_tokens: 20, total_output_tokens: 40_000, total_tokens: 40_020 },
                output_tokens_by_modality: [{ modality: "video", tokens: 40_000 }],
              },
            }),
          ...(done && outcome !== "completed" && { steps: [{ type: "model_output", content: [{ type: "text", text: "I will not" }] }] }),
        };
      case "veo":
        return {
          name: job.id,
          ...(done && {
            done: true,
            response:
              outcome === "completed"
                ? { videos: [{ bytesBase64Encoded: Buffer.from(videoBytesOf(job.id)).toString("base64"), mimeType: "video/mp4" }] }
                : { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ["Filtered for reasons"] },
          }),
        };
    }
  };
  const answer = (what: "submit" | "poll" | "content", job: MadeJob, body: () => Response): Response | Promise<Response> => {
    const fault = faults.fault?.(what, job) ?? null;
    if (fault === "lose") return never();
    // A refused job is not started.
    if (fault === "refuse" && what === "submit") jobs.delete(job.id);
    if (fault === "refuse") return Response.json({ error: { message: "busy" } }, { status: 503 });
    if (fault === "stale" && what === "poll") return Response.json(told(job, true));
    if (fault === "tear" && what === "content") {
      const whole = videoBytesOf(job.id);
      return new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(whole.subarray(0, 1_000));
            controller.error(new Error("torn"));
          },
        }),
        { headers: { "content-type": "video/mp4" } },
      );
    }
    return body();
  };
  const poll = (job: MadeJob | undefined): Response | Promise<Response> => {
    if (job === undefined) return Response.json({ error: { message: "no such job", code: 404 } }, { status: 404 });
    job.polls++;
    return answer("poll", job, () => Response.json(told(job, false)));
  };
  const content = (job: MadeJob | undefined): Response | Promise<Response> => {
    if (job === undefined || !isDone(job)) return Response.json({ error: { message: "not ready" } }, { status: 404 });
    job.downloads++;
    const bytes = outcomeOf(job) === "completed" ? videoBytesOf(job.id) : new TextEncoder().encode("no video");
    return answer("content", job, () => new Response(bytes, { headers: { "content-type": "video/mp4" } }));
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 255,
    development: false,
    async fetch(request) {
      const url = new URL(request.url);
      const path = url.pathname;
      seen.push({ method: request.method, path, headers: Object.fromEntries(request.headers) });
      const isForm = request.headers.get("content-type")?.startsWith("multipart/form-data") === true;
      if (request.method === "POST" && path === "/v1/videos") {
        const asked = isForm ? Object.fromEntries((await request.formData()) as any) : await request.json();
        if (asked.prompt === "refused")
          return Response.json({ error: { message: "We do not film that", code: "bad_prompt" } }, { status: 400 });
        const job = begin("openai", asked);
        return answer("submit", job, () => Response.json({ ...told(job, true), status: "queued" }));
      }
      const derived = /^\/v1\/videos\/(?:(edits|extensions)|([^/]+)\/remix)$/.exec(path);
      if (request.method === "POST" && derived !== null) {
        const asked = (await request.json()) as Record<string, any>;
        const from = jobs.get(derived[2] ?? asked.video?.id);
        if (from === undefined || !isDone(from)) return Response.json({ error: { message: "no such video" } }, { status: 404 });
        const job = begin("openai", { ...asked, path });
        if (derived[1] === "extensions") job.long = (from.long ?? Number(from.asked.seconds ?? 4)) + Number(asked.seconds);
        return answer("submit", job, () => Response.json({ ...told(job, true), status: "queued" }));
      }
      if (request.method === "POST" && path === "/v1beta/interactions") {
        const job = begin("interactions", await request.json());
        return answer("submit", job, () => Response.json({ id: job.id, status: "in_progress" }));
      }
      if (request.method === "POST" && path.endsWith(":predictLongRunning")) {
        const job = begin("veo", { ...(await request.json()), path });
        return answer("submit", job, () => Response.json({ name: job.id }));
      }
      if (request.method === "POST" && path.endsWith(":fetchPredictOperation"))
        return poll(jobs.get(((await request.json()) as { operationName: string }).operationName));
      const id = /\/(?:videos|interactions|files)\/([^/:]+)/.exec(path)?.[1] ?? "";
      const job = jobs.get(decodeURIComponent(id));
      if (path.endsWith("/content") || path.endsWith(":download")) return content(job);
      if (request.method === "DELETE" || path.endsWith("/cancel")) {
        if (job === undefined || faults.cancels === false) return Response.json({ error: { message: "no" } }, { status: 400 });
        job.cancelled = true;
        return Response.json(told(job, true));
      }
      return poll(job);
    },
  });
  const origin = (): string => `http://127.0.0.1:${server.port}`;
  return { origin: origin(), jobs, seen, faults, stop: () => server.stop(true) };
}

export type VideoVendor = ReturnType<typeof startVideoVendor>;
