import { gcsAnswer, VERTEX_TOKEN } from "./bucket-batch-vendors.ts";
import { BUCKET_KEYS, startFakeBucket } from "./fake-bucket.ts";
import { videoBytesOf } from "./video-vendor.ts";

/**
 * Nova Reel on Bedrock and Veo on Vertex, both storing videos in a bucket, implemented from the documentation of AWS and Google alone. A
 * job is done at the second poll.
 */

interface BucketFilm {
  readonly id: string;
  readonly asked: any;
  looks: number;
  fails: boolean;
}

const asText = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

export function startNovaReel() {
  const store = startFakeBucket("acme");
  const films: BucketFilm[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const url = new URL(request.url);
      const signed = request.headers.get("authorization") ?? "";
      if (!signed.startsWith(`AWS4-HMAC-SHA256 Credential=${BUCKET_KEYS.accessKeyId}/`) || !signed.includes("/bedrock/aws4_request"))
        return Response.json({ message: "not signed" }, { status: 403 });
      if (request.method === "POST" && url.pathname === "/async-invoke") {
        const asked = (await request.json()) as any;
        const film: BucketFilm = {
          id: `arn:aws:bedrock:eu-central-1:123456789012:async-invoke/f${films.length}`,
          ...{ asked, looks: 0, fails: asked.modelInput.textToVideoParams.text === "Bad" },
        };
        films.push(film);
        return Response.json({ invocationArn: film.id });
      }
      const film = films.find(({ id }) => url.pathname === `/async-invoke/${encodeURIComponent(id)}`);
      if (request.method !== "GET" || film === undefined) return Response.json({ message: "no such invocation" }, { status: 404 });
      film.looks++;
      const told = { invocationArn: film.id, modelArn: film.asked.modelId, outputDataConfig: film.asked.outputDataConfig };
      if (film.looks < 2) return Response.json({ ...told, status: "InProgress" });
      if (film.fails) return Response.json({ ...told, status: "Failed", failureMessage: "The text was blocked" });
      const folder = `${film.asked.outputDataConfig.s3OutputDataConfig.s3Uri.replace("s3://acme/", "")}/${film.id.split("/").at(-1)}`;
      store.objects.set(`${folder}/output.mp4`, asText(videoBytesOf(film.id)));
      return Response.json({ ...told, status: "Completed", outputDataConfig: { s3OutputDataConfig: { s3Uri: `s3://acme/${folder}` } } });
    },
  });
  return {
    ...{ baseUrl: `http://127.0.0.1:${server.port}`, storeUrl: store.endpoint, films },
    stop: () => Promise.all([server.stop(true), store.stop()]),
  };
}

export function startVeo() {
  const objects = new Map<string, string>();
  const films: BucketFilm[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const url = new URL(request.url);
      if (request.headers.get("authorization") !== `Bearer ${VERTEX_TOKEN}`)
        return Response.json({ error: { code: 401, message: "no token" } }, { status: 401 });
      const stored = await gcsAnswer(objects, request, url);
      if (stored !== null) return stored;
      const asked = (await request.json()) as any;
      if (url.pathname.endsWith(":predictLongRunning")) {
        const film: BucketFilm = { id: `projects/p/locations/l/operations/f${films.length}`, asked, looks: 0, fails: false };
        films.push(film);
        return Response.json({ name: film.id });
      }
      const film = films.find(({ id }) => id === asked.operationName);
      if (film === undefined) return Response.json({ error: { code: 404, message: "no such operation" } }, { status: 404 });
      film.looks++;
      if (film.looks < 2) return Response.json({ name: film.id });
      const folder = `${film.asked.parameters.storageUri.replace("gs://acme/", "")}/1234`;
      objects.set(`${folder}/sample_0.mp4`, asText(videoBytesOf(film.id)));
      const videos = [{ gcsUri: `gs://acme/${folder}/sample_0.mp4`, mimeType: "video/mp4" }];
      return Response.json({ name: film.id, done: true, response: { raiMediaFilteredCount: 0, videos } });
    },
  });
  return { baseUrl: `http://127.0.0.1:${server.port}`, films, stop: () => server.stop(true) };
}
