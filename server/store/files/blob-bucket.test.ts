import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { blobBucket } from "./blob-bucket.ts";
import type { BlobStore } from "./blobs.ts";

/** Runs against a third-party store that accepts multipart uploads. */
const PYTHON = process.env.S3_PYTHON;

if (PYTHON === undefined)
  console.log("The S3-compatible store is left out: S3_PYTHON names no Python that has moto (pip install -r tests/s3-server.txt).");
else {
  let server: ReturnType<typeof spawn>;
  let endpoint: string;
  let blobs: BlobStore;

  beforeAll(async () => {
    const probe = createServer().listen(0, "127.0.0.1");
    await once(probe, "listening");
    const { port } = probe.address() as { port: number };
    probe.close();
    endpoint = `http://127.0.0.1:${port}`;
    server = spawn(PYTHON, ["-m", "moto.server", "-H", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
    while (
      !(await fetch(`${endpoint}/files`, { method: "PUT" }).then(
        ({ ok }) => ok,
        () => false,
      ))
    )
      await new Promise((resolve) => setTimeout(resolve, 100));
    const keys = { accessKeyId: "AKIDEXAMPLE1", secretAccessKey: "secret", sessionToken: null };
    blobs = blobBucket({ bucket: "files", prefix: "a/b/", endpoint, region: "us-east-1", keys });
  });
  afterAll(async () => {
    server.kill();
    await once(server, "exit");
  });

  const PIECE = 64 * 1024;
  async function* pieces(count: number, broken = false): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < count; at++) yield new Uint8Array(PIECE).fill(at);
    if (broken) throw new Error("broke off");
  }
  const read = async (key: string, start: number, end: number) =>
    new Uint8Array(await new Response(await blobs.read(key, start, end)).arrayBuffer());

  test.each([
    ["empty", 0],
    ["one piece", 1],
    ["several parts", 200],
  ])("an object in a bucket (%s) is written, read completely and in part, and deleted", async (_what, count) => {
    const key = `file-of-${count}`;
    await blobs.write(key, pieces(count));
    expect((await read(key, 0, count * PIECE)).byteLength).toBe(count * PIECE);
    if (count > 1) expect([...(await read(key, PIECE - 2, PIECE + 2))]).toEqual([0, 0, 1, 1]);
    await blobs.remove(key);
    await blobs.remove(key);
    if (count > 0)
      expect(
        await read(key, 0, 10).then(
          () => "there",
          () => "gone",
        ),
      ).toBe("gone");
  });

  test("an upload that breaks off leaves nothing in the bucket", async () => {
    expect(await blobs.write("file-torn", pieces(200, true)).catch((error: Error) => error.message)).toBe("broke off");
    expect(
      await read("file-torn", 0, 10).then(
        () => "there",
        () => "gone",
      ),
    ).toBe("gone");
  });
}
