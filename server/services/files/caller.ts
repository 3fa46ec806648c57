import type { TenantSnapshot } from "../../directory/snapshot.ts";
import type { Call } from "../../road/call.ts";
import { type FileFacts, fileOwner, type Files, type StoredFile } from "../../directory/files/stored-files.ts";

/** The directory's types under the names that surfaces use. */
export type FileService = Files;
export type CallerFile = StoredFile;
export type FileDescription = FileFacts;

/** The owner whose files the call may use, and its tenant. Throws if the call was not admitted to a group. */
export function callerOf({ identity, scope }: Call): { readonly owner: ReturnType<typeof fileOwner>; readonly tenant: TenantSnapshot } {
  if (identity === null || scope === null) throw new Error("a call to files was not admitted");
  return { owner: fileOwner(identity, scope), tenant: scope.tenant };
}

/** Records on the row the files that were sent or made, by content hash. */
export function noteFiles(call: Call, files: readonly CallerFile[]): void {
  call.row.custom_metadata = {
    ...(call.row.custom_metadata as object | null | undefined),
    files: files.map(({ id, mime_type, size_bytes, content_hash }) => ({ id, mime_type, size_bytes, content_hash })),
  };
}

/** Records on the row the file that the call was about. */
export function noteFile(call: Call, file: Pick<CallerFile, "id" | "kind" | "mime_type" | "size_bytes" | "content_hash">): void {
  call.row.custom_metadata = {
    ...(call.row.custom_metadata as object | null | undefined),
    file: { id: file.id, kind: file.kind, mime_type: file.mime_type, size_bytes: file.size_bytes, content_hash: file.content_hash },
  };
}
