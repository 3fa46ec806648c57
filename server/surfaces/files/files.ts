import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { type Answer, jsonAnswer, ownAnswer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import { EMPTY_VIEW } from "../../road/empty-view.ts";
import type { Surface } from "../../road/surface.ts";
import { type CallerFile, callerOf, type FileService, noteFile } from "../../services/files/caller.ts";
import { FILE_KINDS, isFileKind } from "../../kernel/file-kinds.ts";
import { llmRefusals } from "../llm/refusals.ts";
import { contentAnswer } from "./content.ts";
import { baseName, upload, type UploadFields } from "../../services/files/upload.ts";

const MOST_ON_A_PAGE = 200;
const USUAL_PAGE = 50;
/** How long a signed address is good, seconds. */
const DEFAULT_SECONDS = 900;
const MOST_SECONDS = 86_400;

/** A surface of files: each answers the call that was admitted. */
export function fileSurface(answer: (call: Call) => Promise<Answer | Refusal>): Surface {
  return { ...llmRefusals, read: () => ({ view: EMPTY_VIEW, answer }) };
}

function recordOf(file: CallerFile): object {
  const { id, tenant_id, kind, mime_type, size_bytes, content_hash, chat_id, model_id, display_name } = file;
  const { created_at, expires_at, deleted_at, access_count } = file;
  const facts = { id, tenant_id, kind, mime_type, size_bytes, content_hash, chat_id, model_id, display_name };
  return { ...facts, created_at, expires_at, deleted_at, access_count };
}

const KNOWN = new Set(["file", "kind", "chat_id", "model_id", "display_name"]);

const FORM: UploadFields = {
  kindOf(fields) {
    const kind = fields.get("kind") ?? "";
    return isFileKind(kind) ? kind : null;
  },
  factsOf(fields, fileName) {
    const kind = fields.get("kind");
    const problems = [...fields.keys()].filter((name) => !KNOWN.has(name)).map((field) => ({ field, message: "is not known here" }));
    if (kind === undefined) problems.push({ field: "kind", message: "is required" });
    else if (!isFileKind(kind)) problems.push({ field: "kind", message: `must be one of ${FILE_KINDS.join(", ")}` });
    if (problems.length > 0) return refuse("invalid_body", undefined, { fields: problems });
    return {
      kind: kind as (typeof FILE_KINDS)[number],
      chatId: fields.get("chat_id") ?? null,
      modelId: fields.get("model_id") ?? null,
      displayName: fields.get("display_name") ?? baseName(fileName),
    };
  },
};

/** POST /v1/proxy/files */
export const fileUpload = (files: FileService): Surface =>
  fileSurface(async (call) => {
    const file = await upload(call, files, FORM);
    return isRefusal(file) ? file : ownAnswer(201, { "content-type": "application/json" }, JSON.stringify(recordOf(file)));
  });

/** GET /v1/proxy/files */
export const fileList = (files: FileService): Surface =>
  fileSurface(async (call) => {
    const query = queryOf(call, ["kind", "chat_id", "page", "page_size"]);
    if (isRefusal(query)) return query;
    const page = wholeNumber(query, "page", 1, 1, 1_000_000);
    const size = wholeNumber(query, "page_size", USUAL_PAGE, 1, MOST_ON_A_PAGE);
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
    const file = await files.find(callerOf(call).owner, fileIdIn(call));
    if (isRefusal(file)) return file;
    noteFile(call, file);
    return jsonAnswer(recordOf(file));
  });

/** GET /v1/proxy/files/{file_id}/url; `publicUrl`: null where callers' own way here is the only one known. */
export const fileUrl = (files: FileService, publicUrl: string | null): Surface =>
  fileSurface(async (call) => {
    const query = queryOf(call, ["expires_in_secs"]);
    if (isRefusal(query)) return query;
    const seconds = wholeNumber(query, "expires_in_secs", DEFAULT_SECONDS, 1, MOST_SECONDS);
    if (typeof seconds !== "number") return seconds;
    const file = await files.find(callerOf(call).owner, fileIdIn(call));
    if (isRefusal(file)) return file;
    noteFile(call, file);
    const url = new URL(files.signedPath(file, seconds), publicUrl ?? call.url).href;
    return jsonAnswer({ url, expires_in_secs: seconds, file_id: file.id, mime_type: file.mime_type }, { "cache-control": "no-store" });
  });

/** GET /v1/proxy/files/{file_id}/content, with a credential or with the signature of a signed address. */
export const fileContent = (files: FileService): Surface => ({
  ...contentSurface(files),
  vouchesFor(call) {
    const { searchParams: query } = new URL(call.url);
    return files.isIssued(fileIdIn(call), query.get("expires") ?? "", query.get("signature") ?? "");
  },
});

const contentSurface = (files: FileService): Surface =>
  fileSurface(async (call) => {
    const query = new URL(call.url).searchParams;
    const [expires, ...others] = query.getAll("expires");
    const [signature, ...more] = query.getAll("signature");
    if (call.identity !== null) {
      const file = await files.find(callerOf(call).owner, fileIdIn(call));
      return isRefusal(file) ? file : contentAnswer(call, files, file);
    }
    if (expires === undefined && signature === undefined)
      return refuse("unauthenticated", undefined, { headers: { "www-authenticate": "Bearer" }, reason: "credential_missing" });
    if (expires === undefined || signature === undefined || others.length + more.length > 0) return refuse("file_not_found");
    const file = await files.findSigned(fileIdIn(call), expires, signature);
    if (isRefusal(file)) return file;
    call.identity = { tenantId: file.tenant_id, credentialId: file.id, credentialName: "signed address", userId: null, username: null };
    call.row.tenant_id = file.tenant_id;
    call.row.resource_group_id = file.resource_group_id;
    return contentAnswer(call, files, file);
  });

/** DELETE /v1/proxy/files/{file_id} */
export const fileDelete = (files: FileService): Surface =>
  fileSurface(async (call) => {
    const id = fileIdIn(call);
    const { owner } = callerOf(call);
    const file = await files.find(owner, id);
    if (isRefusal(file)) return file;
    noteFile(call, file);
    return (await files.delete(owner, { id })) === 0 ? refuse("file_not_found") : jsonAnswer({ id, deleted: true });
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

/** What stands behind `files/` in the path. */
export function fileIdIn(call: Call): string {
  return /\/files\/([A-Za-z0-9-]{1,100})(?:\/|$)/.exec(call.path)?.[1] ?? "";
}

const invalid = (field: string, message: string): Refusal => refuse("invalid_query", undefined, { fields: [{ field, message }] });

/** The query, of names that are known and stand once. */
export function queryOf(call: Call, known: readonly string[]): ReadonlyMap<string, string> | Refusal {
  const query = new Map<string, string>();
  for (const [name, value] of new URL(call.url).searchParams) {
    if (!known.includes(name)) return invalid(name.slice(0, 100), "is not known here");
    if (query.has(name)) return invalid(name, "was sent more than once");
    if (value.includes("\0")) return invalid(name, "must be text");
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
