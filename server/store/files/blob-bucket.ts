import type { BucketSettings } from "../../kernel/configuration/bucket-settings.ts";
import { objectStore } from "../../runtime/object-store.ts";
import type { BlobStore } from "./blobs.ts";

/** Stores blobs in a bucket, which many processes may share. */
export function blobBucket(settings: BucketSettings): BlobStore {
  const store = objectStore(settings);
  return {
    address: `s3://${settings.bucket}/${settings.prefix}`,
    directory: null,
    async write(key, bytes) {
      try {
        await store.write(key, bytes);
      } catch (error) {
        await store.remove(key).catch(() => undefined);
        throw error;
      }
    },
    read: async (key, start, end) => store.read(key, start, end),
    remove: (key) => store.remove(key).then(() => true),
  };
}
