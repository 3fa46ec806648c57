import { S3Client } from "bun";
import type { BucketSettings } from "../kernel/configuration/bucket-settings.ts";

/** An S3-compatible store with streamed objects. Methods reject with the store's or network's error. */
export interface ObjectStore {
  /** Uploads in parts of a few MiB, holding one in memory. If `body` throws, a truncated object may remain. */
  write(key: string, body: AsyncIterable<Uint8Array>): Promise<void>;
  /** Reads from `start` up to but excluding `end`. */
  read(key: string, start: number, end: number): ReadableStream<Uint8Array>;
  remove(key: string): Promise<void>;
  /** Objects whose keys start with `within`, in key order. Keys exclude the configured prefix. */
  list(within: string): AsyncGenerator<{ readonly key: string; readonly sizeBytes: number }>;
}

const PART_BYTES = 5 * 1024 * 1024;

export function objectStore({ bucket, prefix, endpoint, region, keys }: BucketSettings): ObjectStore {
  const client = new S3Client({
    bucket,
    endpoint,
    region,
    accessKeyId: keys.accessKeyId,
    secretAccessKey: keys.secretAccessKey,
    ...(keys.sessionToken === null ? {} : { sessionToken: keys.sessionToken }),
  });
  return {
    async write(key, body) {
      const writer = client.file(prefix + key).writer({ partSize: PART_BYTES, queueSize: 1, retry: 3 });
      let waiting = 0;
      try {
        for await (const piece of body) {
          await writer.write(piece as Uint8Array<ArrayBuffer>);
          waiting += piece.byteLength;
          // Writing alone applies no backpressure, so unsent data would pile up.
          if (waiting < PART_BYTES) continue;
          waiting = 0;
          await writer.flush();
        }
      } catch (error) {
        // Ending completes the upload, even after an error; the caller removes the object.
        await Promise.resolve(writer.end()).catch(() => undefined);
        throw error;
      }
      await writer.end();
    },
    read: (key, start, end) =>
      (start === 0 && end === 0
        ? new Blob([]).stream()
        : client
            .file(prefix + key)
            .slice(start, end)
            .stream()) as ReadableStream<Uint8Array>,
    remove: (key) => client.delete(prefix + key),
    async *list(within) {
      for (let startAfter: string | undefined; ;) {
        const answer = await client.list({ prefix: prefix + within, ...(startAfter === undefined ? {} : { startAfter }) });
        const contents = answer.contents ?? [];
        for (const { key, size } of contents) yield { key: key.slice(prefix.length), sizeBytes: size ?? 0 };
        if (answer.isTruncated !== true) return;
        startAfter = contents.at(-1)?.key;
        // A truncated list would make existing objects look deleted.
        if (startAfter === undefined) throw new Error("the store broke off its list");
      }
    },
  };
}
