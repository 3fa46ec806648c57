import { knowledgeDocumentForm } from "@gatehouse/contracts/knowledge-bases";
import { DOCUMENT_KINDS, MAX_DOCUMENT_BYTES } from "../../../directory/knowledge/document-kinds.ts";
import type { UploadedDocument } from "../../../directory/knowledge/documents.ts";
import { invalidFields, isRefusal, Refused } from "../../../kernel/errors.ts";
import { readBody } from "../../../road/request/read-body.ts";
import { check } from "../../../wire/http/strict-input.ts";

const MIB = 1024 * 1024;
/** The largest document, with room for the form around it. */
export const DOCUMENT_UPLOAD_BYTES = MAX_DOCUMENT_BYTES + 64 * 1024;

const wrong = (field: string, message: string) => invalidFields("invalid_body", [{ field, message }]);

/** The document in a form's `file`, with `name` and `metadata` if the form has them. */
export async function uploadedDocument(request: Request): Promise<UploadedDocument> {
  const body = await readBody(request, DOCUMENT_UPLOAD_BYTES);
  if (isRefusal(body)) throw new Refused(body);
  const form = await formOf(body, request.headers.get("content-type") ?? "");
  const file = form.get("file");
  if (!(file instanceof Blob)) throw wrong("file", "is required, as a file of multipart/form-data");
  for (const name of form.keys()) if (!["file", "name", "metadata", "permissions"].includes(name)) throw wrong(name, "is not known");
  if (file.size > MAX_DOCUMENT_BYTES)
    throw invalidFields("body_too_large", [{ field: "file", message: `is larger than ${MAX_DOCUMENT_BYTES / MIB} MiB` }]);
  if (file.size === 0) throw wrong("file", "is empty");
  const fileName = (file as File).name;
  const kind = DOCUMENT_KINDS[/\.([a-z]+)$/i.exec(fileName)?.[1]?.toLowerCase() ?? ""];
  if (kind === undefined)
    throw wrong(
      "file",
      `must have a name that ends in one of ${Object.keys(DOCUMENT_KINDS)
        .map((end) => `.${end}`)
        .join(", ")}`,
    );
  const checked = check(
    knowledgeDocumentForm,
    {
      name: form.get("name") ?? fileName.replace(/^.*[/\\]/, ""),
      metadata: jsonOf("metadata", form.get("metadata")) ?? {},
      permissions: jsonOf("permissions", form.get("permissions")),
    },
    "invalid_body",
  );
  return { ...checked, kind, content: new Uint8Array(await file.arrayBuffer()) };
}

async function formOf(body: Uint8Array, type: string): Promise<FormData> {
  try {
    return (await new Response(body as Uint8Array<ArrayBuffer>, { headers: { "content-type": type } }).formData()) as FormData;
  } catch {
    throw wrong("file", "is required, as a file of multipart/form-data");
  }
}

function jsonOf(field: string, value: unknown): unknown {
  if (value === null) return null;
  try {
    return JSON.parse(String(value));
  } catch {
    throw wrong(field, "must be a JSON object");
  }
}
