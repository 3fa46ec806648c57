import { FILE_KINDS, isFileKind } from "../../kernel/files/file-kinds.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import { baseName } from "../../services/files/file-description.ts";
import type { UploadFields } from "../../services/files/upload.ts";
import { nameProblems } from "./form-names.ts";

const KNOWN = new Set(["file", "kind", "chat_id", "model_id", "display_name"]);

export const FILE_UPLOAD_FIELDS: UploadFields = {
  kindOf(fields) {
    const kind = fields.get("kind") ?? "";
    return isFileKind(kind) ? kind : null;
  },
  factsOf(fields, fileName) {
    const kind = fields.get("kind");
    const problems = nameProblems(fields.keys(), KNOWN);
    if (kind === undefined) problems.push({ field: "kind", message: "is required" });
    else if (!isFileKind(kind)) problems.push({ field: "kind", message: `must be one of ${FILE_KINDS.join(", ")}` });
    if (problems.length > 0) return invalidRequest(problems);
    return {
      kind: kind as (typeof FILE_KINDS)[number],
      chatId: fields.get("chat_id") ?? null,
      modelId: fields.get("model_id") ?? null,
      displayName: fields.get("display_name") ?? baseName(fileName),
    };
  },
};
