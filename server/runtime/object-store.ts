import { S3Client } from "bun";
import type { BucketSettings } from "../kernel/configuration/bucket-settings.ts";

/** Objects of an S3-compatible store as streams of bytes. Its methods reject with what the store or the network said. */
export interface ObjectStore {
  /** In parts of a few MiB, of which no more than one is held. An object of a body that throws may be there, cut short. */
  write(key: string, body: AsyncIterable<Uint8Array>): Promise<void>;
  /** From `start` to before `end`. */
  read(key: string, start: number, end: number): ReadableStream<Uint8Array>;
  remove(key: string): Promise<void>;
  /** Objects whose keys begin with `within`, in their order; keys without the prefix of the place. */
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
          // Writing alone holds nobody back, and what was not sent yet would pile up.
          if (waiting < PART_BYTES) continue;
          waiting = 0;
          await writer.flush();
        }
      } catch (error) {
        // Ending completes what was begun, whatever it is ended with: whoever called removes it.
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
        // What is not listed would be taken for gone.
        if (startAfter === undefined) throw new Error("the store broke off its list");
      }
    },
  };
}
