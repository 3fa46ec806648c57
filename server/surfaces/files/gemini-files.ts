import { isRefusal, type Refusal } from "../../kernel/errors.ts";
import { type Answer, jsonAnswer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import { EMPTY_VIEW } from "../../road/request/empty-view.ts";
import type { Surface } from "../../road/surface.ts";
import { type CallerFile, callerOf, type FileService } from "../../services/files/caller.ts";
import { fileNameOf } from "../../services/files/file-name.ts";
import { geminiRefusals } from "../gemini/refusals.ts";
import { contentAnswer } from "./content.ts";
import { deletedFile, fileNamed, queryOf, wholeNumber } from "./files.ts";

/** Google's paths for files, over the same store and rules. */

const MAX_LISTED = 100;
const USUAL = 10;

/** Parameters that select a form of the API; responses here are the same for all. */
const NOT_READ = ["key", "alt", "$alt", "prettyPrint"];

export function geminiFileSurface(answer: (call: Call) => Promise<Answer | Refusal>): Surface {
  return { ...geminiRefusals, read: () => ({ view: EMPTY_VIEW, answer }) };
}

/** The API version in the call's path. */
export const apiVersionIn = ({ path }: Call): string => (path.includes("/v1beta/") ? "v1beta" : "v1");

/** A file in Google's form. */
export function geminiFileOf(call: Call, file: CallerFile, publicUrl: string | null): object {
  const made = file.created_at.toISOString();
  return {
    name: `files/${file.id}`,
    displayName: fileNameOf(file),
    mimeType: file.mime_type,
    // Google's JSON has 64-bit numbers as text, and bytes in base64.
    sizeBytes: String(file.size_bytes),
    createTime: made,
    updateTime: made,
    ...(file.expires_at === null ? {} : { expirationTime: file.expires_at.toISOString() }),
    sha256Hash: Buffer.from(file.content_hash, "hex").toString("base64"),
    uri: new URL(`/${apiVersionIn(call)}/files/${file.id}`, publicUrl ?? call.url).href,
    state: "ACTIVE",
    source: "UPLOADED",
  };
}

/** GET /v1beta/files */
export const geminiFileList = (files: FileService, publicUrl: string | null): Surface =>
  geminiFileSurface(async (call) => {
    const query = queryOf(call, ["pageSize", "pageToken"], NOT_READ);
    if (isRefusal(query)) return query;
    const size = wholeNumber(query, "pageSize", USUAL, 1, MAX_LISTED);
    if (typeof size !== "number") return size;
    const { items } = await files.list(callerOf(call).owner, {}, { limit: size + 1, offset: 0, after: query.get("pageToken") });
    const shown = items.slice(0, size);
    return jsonAnswer({
      files: shown.map((file) => geminiFileOf(call, file, publicUrl)),
      ...(items.length > size ? { nextPageToken: shown.at(-1)?.id } : {}),
    });
  });

/** GET /v1beta/files/{file} */
export const geminiFileDetail = (files: FileService, publicUrl: string | null): Surface =>
  geminiFileSurface(async (call) => {
    const file = await fileNamed(call, files);
    if (isRefusal(file)) return file;
    return jsonAnswer(geminiFileOf(call, file, publicUrl));
  });

/** GET /v1beta/files/{file}:download */
export const geminiFileContent = (files: FileService): Surface =>
  geminiFileSurface(async (call) => {
    const file = await fileNamed(call, files);
    return isRefusal(file) ? file : contentAnswer(call, files, file);
  });

/** DELETE /v1beta/files/{file} */
export const geminiFileDelete = (files: FileService): Surface =>
  geminiFileSurface(async (call) => {
    const file = await deletedFile(call, files);
    return isRefusal(file) ? file : jsonAnswer({});
  });
