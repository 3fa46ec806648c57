import { isRefusal, refuse } from "../../kernel/errors.ts";
import { jsonAnswer } from "../../road/answer.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { Surface } from "../../road/surface.ts";
import { type CallerFile, callerOf, type FileService } from "../../services/files/caller.ts";
import { FILE_KINDS, type FileKind } from "../../kernel/files/file-kinds.ts";
import { contentAnswer } from "./content.ts";
import { deletedFile, fileNamed, fileSurface, queryOf, wholeNumber } from "./files.ts";
import { nameProblems } from "./form-names.ts";
import { fileNameOf } from "../../services/files/file-name.ts";
import { baseName } from "../../services/files/file-description.ts";
import { upload, type UploadFields } from "../../services/files/upload.ts";

/** OpenAI's paths for files, over the same store and rules. */

/** The kind that a purpose implies; null to detect it from the bytes. */
const KINDS: Readonly<Record<string, FileKind | null>> = {
  assistants: null,
  batch: "batch_input",
  "fine-tune": "other",
  vision: "image",
  user_data: null,
  evals: "other",
};
const MAX_LISTED = 10_000;
const MAX_DELETED = 1_000;

const PURPOSES: Readonly<Partial<Record<string, string>>> = { batch_input: "batch", batch_output: "batch_output", image: "vision" };
const purposeOf = (kind: string): string => PURPOSES[kind] ?? "user_data";

function objectOf(file: CallerFile): object {
  return {
    id: file.id,
    object: "file",
    bytes: file.size_bytes,
    created_at: Math.floor(file.created_at.getTime() / 1000),
    expires_at: file.expires_at === null ? null : Math.floor(file.expires_at.getTime() / 1000),
    filename: fileNameOf(file),
    purpose: file.purpose ?? purposeOf(file.kind),
    status: "processed",
    status_details: null,
  };
}

const KNOWN = new Set(["file", "purpose", "expires_after[anchor]", "expires_after[seconds]"]);

const FORM: UploadFields = {
  kindOf: (fields) => KINDS[fields.get("purpose") ?? ""] ?? null,
  factsOf(fields, fileName) {
    const purpose = fields.get("purpose");
    const problems = nameProblems(fields.keys(), KNOWN);
    if (purpose === undefined) problems.push({ field: "purpose", message: "is required" });
    else if (!Object.hasOwn(KINDS, purpose))
      problems.push({ field: "purpose", message: `must be one of ${Object.keys(KINDS).join(", ")}` });
    const seconds = fields.get("expires_after[seconds]");
    const anchor = fields.get("expires_after[anchor]");
    if ((seconds === undefined) !== (anchor === undefined) || (anchor !== undefined && anchor !== "created_at"))
      problems.push({ field: "expires_after", message: "must have an anchor, created_at, and seconds" });
    if (seconds !== undefined && !(/^[0-9]{4,7}$/.test(seconds) && Number(seconds) >= 3_600 && Number(seconds) <= 2_592_000))
      problems.push({ field: "expires_after[seconds]", message: "must be a whole number from 3600 to 2592000" });
    if (problems.length > 0) return invalidRequest(problems);
    return {
      kind: KINDS[purpose as string] ?? null,
      purpose: purpose ?? null,
      displayName: baseName(fileName),
      expiresInSeconds: seconds === undefined ? null : Number(seconds),
    };
  },
};

export const openaiFileUpload = (files: FileService): Surface =>
  fileSurface(async (call) => {
    const file = await upload(call, files, FORM);
    return isRefusal(file) ? file : jsonAnswer(objectOf(file));
  });

export const openaiFileList = (files: FileService): Surface =>
  fileSurface(async (call) => {
    const query = queryOf(call, ["purpose", "limit", "order", "after"]);
    if (isRefusal(query)) return query;
    const limit = wholeNumber(query, "limit", MAX_DELETED, 1, MAX_LISTED);
    if (typeof limit !== "number") return limit;
    const order = query.get("order") ?? "desc";
    if (order !== "asc" && order !== "desc")
      return refuse("invalid_query", undefined, { fields: [{ field: "order", message: "must be asc or desc" }] });
    const page = { limit: Math.min(limit, MAX_DELETED) + 1, offset: 0, after: query.get("after"), oldestFirst: order === "asc" };
    const requestedPurpose = query.get("purpose");
    const purpose =
      requestedPurpose === undefined
        ? undefined
        : { said: requestedPurpose, kinds: FILE_KINDS.filter((kind) => purposeOf(kind) === requestedPurpose) };
    const { items } = await files.list(callerOf(call).owner, { purpose }, page);
    const shown = items.slice(0, page.limit - 1);
    return jsonAnswer({
      object: "list",
      data: shown.map(objectOf),
      first_id: shown[0]?.id ?? null,
      last_id: shown.at(-1)?.id ?? null,
      has_more: items.length > shown.length,
    });
  });

export const openaiFileDetail = (files: FileService): Surface =>
  fileSurface(async (call) => {
    const file = await fileNamed(call, files);
    if (isRefusal(file)) return file;
    return jsonAnswer(objectOf(file));
  });

export const openaiFileContent = (files: FileService): Surface =>
  fileSurface(async (call) => {
    const file = await fileNamed(call, files);
    return isRefusal(file) ? file : contentAnswer(call, files, file);
  });

export const openaiFileDelete = (files: FileService): Surface =>
  fileSurface(async (call) => {
    const file = await deletedFile(call, files);
    return isRefusal(file) ? file : jsonAnswer({ id: file.id, object: "file", deleted: true });
  });
