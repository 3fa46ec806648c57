import type { ObjectStore } from "../../runtime/object-store.ts";
import { type KnowledgeSource, MAX_FILE_BYTES, MAX_FILES, SourceUnavailable } from "./source.ts";

/** Objects in the tenant's folder of the operator's bucket. Paths with a part that begins with a dot are skipped. */
export function bucketSource(store: ObjectStore, tenantId: string, location: string): KnowledgeSource {
  const folder = `${encodeURIComponent(tenantId)}/${location.replace(/\/+$/, "")}/`;
  return {
    async *files() {
      let count = 0;
      try {
        for await (const { key, sizeBytes } of store.list(folder)) {
          const path = key.slice(folder.length);
          if (path.endsWith("/") || path.split("/").some((name) => name === "" || name.startsWith("."))) continue;
          if (++count > MAX_FILES) throw new SourceUnavailable(`It has more than ${MAX_FILES} files.`);
          yield { path, sizeBytes };
        }
      } catch (error) {
        throw unavailable(error);
      }
      if (count === 0) throw new SourceUnavailable("There is nothing at its location.");
    },
    async read(path) {
      const pieces: Uint8Array[] = [];
      let length = 0;
      try {
        for await (const piece of store.read(folder + path, 0, MAX_FILE_BYTES + 1)) {
          pieces.push(piece);
          length += piece.byteLength;
          // Some stores send more than the requested range.
          if (length > MAX_FILE_BYTES) break;
        }
      } catch (error) {
        if ((error as { code?: unknown }).code === "NoSuchKey") return null;
        throw unavailable(error);
      }
      return length > MAX_FILE_BYTES ? null : new Uint8Array(Buffer.concat(pieces, length));
    },
    close: async () => undefined,
  };
}

/** Only the error code: the store's message may contain addresses and IDs of the operator. */
function unavailable(error: unknown): SourceUnavailable {
  if (error instanceof SourceUnavailable) return error;
  const code = String((error as { code?: unknown }).code ?? "");
  return new SourceUnavailable(`The bucket could not be read${/^[A-Za-z_]{1,40}$/.test(code) ? `: ${code}` : ""}.`);
}
