import { isRefusal, refuse } from "../../kernel/errors.ts";
import { jsonAnswer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { Surface } from "../../road/surface.ts";
import { type CallerFile, callerOf, type FileService } from "../../services/files/caller.ts";
import { fileNameOf } from "../../services/files/file-name.ts";
import { baseName } from "../../services/files/file-description.ts";
import { upload, type UploadFields } from "../../services/files/upload.ts";
import { messagesPage, recordSurface } from "../messages/records.ts";
import { contentAnswer } from "./content.ts";
import { deletedFile, fileNamed, queryOf, wholeNumber } from "./files.ts";
import { nameProblems } from "./form-names.ts";

/** Anthropic's paths for files, over the same store and rules. */

const MAX_LISTED = 1_000;
const USUAL = 20;
const MAX_NAMED = 100;
const MIN_SECONDS = 3_600;
const MAX_SECONDS = 7_776_000;

function metadataOf(file: CallerFile): object {
  return {
    id: file.id,
    type: "file",
    filename: fileNameOf(file),
    mime_type: file.mime_type,
    size_bytes: file.size_bytes,
    created_at: file.created_at,
    expires_at: file.expires_at,
    downloadable: true,
  };
}

const KNOWN = new Set(["file", "expires_in_seconds"]);
const OF_OPENAI = "is a field of OpenAI's clients, whose base address has to end in /v1/proxy/llm";

const FORM: UploadFields = {
  // The kind is detected from the bytes.
  kindOf: () => null,
  factsOf(fields, fileName) {
    const problems = nameProblems(fields.keys(), KNOWN).map((problem) =>
      problem.field === "purpose" ? { ...problem, message: OF_OPENAI } : problem,
    );
    const seconds = fields.get("expires_in_seconds");
    const isSeconds = seconds === undefined || (/^[0-9]{4,7}$/.test(seconds) && Number(seconds) >= MIN_SECONDS);
    if (!isSeconds || Number(seconds ?? 0) > MAX_SECONDS)
      problems.push({ field: "expires_in_seconds", message: `must be a whole number from ${MIN_SECONDS} to ${MAX_SECONDS}` });
    if (problems.length > 0) return invalidRequest(problems);
    return { kind: null, displayName: baseName(fileName), expiresInSeconds: seconds === undefined ? null : Number(seconds) };
  },
};

/** POST /v1/files */
export const anthropicFileUpload = (files: FileService): Surface =>
  recordSurface(async (call) => {
    const file = await upload(call, files, FORM);
    return isRefusal(file) ? file : jsonAnswer(metadataOf(file));
  });

/** GET /v1/files: paged as newer clients do (`page`) or as older ones do (`after_id`, `before_id`), or the named files. */
export const anthropicFileList = (files: FileService): Surface =>
  recordSurface(async (call) => {
    const query = queryOf(call, ["page", "limit", "after_id", "before_id", "beta"], IDS);
    if (isRefusal(query)) return query;
    const limit = wholeNumber(query, "limit", USUAL, 1, MAX_LISTED);
    if (typeof limit !== "number") return limit;
    const ids = namedIds(call);
    if (ids.length > MAX_NAMED)
      return refuse("invalid_query", undefined, { fields: [{ field: "ids", message: `must be at most ${MAX_NAMED}` }] });
    const isNamed = ids.length > 0;
    const most = isNamed ? MAX_NAMED : limit;
    const [after, before] = isNamed ? [] : [query.get("page") ?? query.get("after_id"), query.get("before_id")];
    const { items } = await files.list(callerOf(call).owner, isNamed ? { ids } : {}, { limit: most + 1, offset: 0, after, before });
    const { shown, ends } = messagesPage(items, most, before);
    return jsonAnswer({ data: shown.map(metadataOf), next_page: ends.has_more ? ends.last_id : null, ...ends });
  });

const IDS = ["ids", "ids[]"];

function namedIds(call: Call): string[] {
  const { searchParams } = new URL(call.url);
  return [...new Set(IDS.flatMap((name) => searchParams.getAll(name)))];
}

/** GET /v1/files/{file_id} */
export const anthropicFileDetail = (files: FileService): Surface =>
  recordSurface(async (call) => {
    const file = await fileNamed(call, files);
    if (isRefusal(file)) return file;
    return jsonAnswer(metadataOf(file));
  });

/** GET /v1/files/{file_id}/content */
export const anthropicFileContent = (files: FileService): Surface =>
  recordSurface(async (call) => {
    const file = await fileNamed(call, files);
    return isRefusal(file) ? file : contentAnswer(call, files, file);
  });

/** DELETE /v1/files/{file_id} */
export const anthropicFileDelete = (files: FileService): Surface =>
  recordSurface(async (call) => {
    const file = await deletedFile(call, files);
    return isRefusal(file) ? file : jsonAnswer({ id: file.id, type: "file_deleted" });
  });
