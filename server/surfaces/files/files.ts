import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { type Answer, jsonAnswer, ownAnswer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import { EMPTY_VIEW } from "../../road/request/empty-view.ts";
import type { Surface } from "../../road/surface.ts";
import { type CallerFile, callerOf, type FileService, noteFile } from "../../services/files/caller.ts";
import { FILE_KINDS, isFileKind } from "../../kernel/files/file-kinds.ts";
import { llmRefusals } from "../llm/refusals.ts";
import { upload } from "../../services/files/upload.ts";
import { FILE_UPLOAD_FIELDS } from "./upload-fields.ts";

const MAX_PER_PAGE = 200;
const USUAL_PAGE = 50;
/** Lifetime of a signed URL, in seconds. */
const DEFAULT_SECONDS = 900;
const MAX_SECONDS = 86_400;

/** A surface that only answers admitted calls, for files. */
export function fileSurface(answer: (call: Call) => Promise<Answer | Refusal>): Surface {
  return { ...llmRefusals, read: () => ({ view: EMPTY_VIEW, answer }) };
}

function recordOf(file: CallerFile): object {
  const { id, tenant_id, kind, mime_type, size_bytes, content_hash, chat_id, model_id, display_name } = file;
  const { created_at, expires_at, deleted_at, access_count } = file;
  const facts = { id, tenant_id, kind, mime_type, size_bytes, content_hash, chat_id, model_id, display_name };
  return { ...facts, created_at, expires_at, deleted_at, access_count };
}

/** POST /v1/proxy/files */
export const fileUpload = (files: FileService): Surface =>
  fileSurface(async (call) => {
    const file = await upload(call, files, FILE_UPLOAD_FIELDS);
    return isRefusal(file) ? file : ownAnswer(201, { "content-type": "application/json" }, JSON.stringify(recordOf(file)));
  });

/** GET /v1/proxy/files */
export const fileList = (files: FileService): Surface =>
  fileSurface(async (call) => {
    const query = queryOf(call, ["kind", "chat_id", "page", "page_size"]);
    if (isRefusal(query)) return query;
    const page = wholeNumber(query, "page", 1, 1, 1_000_000);
    const size = wholeNumber(query, "page_size", USUAL_PAGE, 1, MAX_PER_PAGE);
    if (typeof page !== "number") return page;
    if (typeof size !== "number") return size;
    const kind = query.get("kind");
    if (kind !== undefined && !isFileKind(kind)) return invalid("kind", `must be one of ${FILE_KINDS.join(", ")}`);
    const filter = { kind, chatId: query.get("chat_id") };
    const { items, total } = await files.list(callerOf(call).owner, filter, { limit: size, offset: (page - 1) * size });
    return jsonAnswer({ files: items.map(recordOf), total, page, page_size: size });
  });

/** GET /v1/proxy/files/{file_id} */
export const fileDetail = (files: FileService): Surface =>
  fileSurface(async (call) => {
    const file = await fileNamed(call, files);
    if (isRefusal(file)) return file;
    return jsonAnswer(recordOf(file));
  });

/** GET /v1/proxy/files/{file_id}/url; `publicUrl`: null to use the address by which each caller reached the gateway. */
export const fileUrl = (files: FileService, publicUrl: string | null): Surface =>
  fileSurface(async (call) => {
    const query = queryOf(call, ["expires_in_secs"]);
    if (isRefusal(query)) return query;
    const seconds = wholeNumber(query, "expires_in_secs", DEFAULT_SECONDS, 1, MAX_SECONDS);
    if (typeof seconds !== "number") return seconds;
    const file = await fileNamed(call, files);
    if (isRefusal(file)) return file;
    const url = new URL(files.signedPath(file, seconds), publicUrl ?? call.url).href;
    return jsonAnswer({ url, expires_in_secs: seconds, file_id: file.id, mime_type: file.mime_type }, { "cache-control": "no-store" });
  });

/** DELETE /v1/proxy/files/{file_id} */
export const fileDelete = (files: FileService): Surface =>
  fileSurface(async (call) => {
    const file = await deletedFile(call, files);
    return isRefusal(file) ? file : jsonAnswer({ id: file.id, deleted: true });
  });

/** DELETE /v1/proxy/files?chat_id= */
export const filesOfChatDelete = (files: FileService): Surface =>
  fileSurface(async (call) => {
    const query = queryOf(call, ["chat_id"]);
    if (isRefusal(query)) return query;
    const chatId = query.get("chat_id") ?? "";
    if (chatId === "") return invalid("chat_id", "is required");
    const deleted = await files.delete(callerOf(call).owner, { chatId });
    call.row.custom_metadata = { ...(call.row.custom_metadata as object | null | undefined), files_deleted: deleted };
    return jsonAnswer({ deleted });
  });

/** The caller's file that the path names; also noted on the audit row. */
export async function fileNamed(call: Call, files: FileService): Promise<CallerFile | Refusal> {
  const file = await files.find(callerOf(call).owner, fileIdIn(call));
  if (!isRefusal(file)) noteFile(call, file);
  return file;
}

/** The same, and deletes it. */
export async function deletedFile(call: Call, files: FileService): Promise<CallerFile | Refusal> {
  const file = await fileNamed(call, files);
  if (isRefusal(file)) return file;
  return (await files.delete(callerOf(call).owner, { id: file.id })) === 0 ? refuse("file_not_found") : file;
}

/** The ID after `files/` in the path; empty if there is none. */
export function fileIdIn(call: Call): string {
  return /\/files\/([A-Za-z0-9-]{1,100})(?:[/:]|$)/.exec(call.path)?.[1] ?? "";
}

const invalid = (field: string, message: string): Refusal => refuse("invalid_query", undefined, { fields: [{ field, message }] });

/** The query parameters, which must be known and not repeated; those in `lists` are read elsewhere. */
export function queryOf(call: Call, known: readonly string[], lists: readonly string[] = []): ReadonlyMap<string, string> | Refusal {
  const query = new Map<string, string>();
  for (const [name, value] of new URL(call.url).searchParams) {
    if (value.includes("\0")) return invalid(name.slice(0, 100), "must be text");
    if (lists.includes(name)) continue;
    if (!known.includes(name)) return invalid(name.slice(0, 100), "is not known here");
    if (query.has(name)) return invalid(name, "was sent more than once");
    query.set(name, value);
  }
  return query;
}

export function wholeNumber(
  query: ReadonlyMap<string, string>,
  name: string,
  usual: number,
  least: number,
  most: number,
): number | Refusal {
  const text = query.get(name);
  if (text === undefined) return usual;
  const value = /^[0-9]{1,7}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : invalid(name, `must be a whole number from ${least} to ${most}`);
}
