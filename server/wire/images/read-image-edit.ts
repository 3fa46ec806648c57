import type { JsonObject } from "../../kernel/json-value.ts";
import { type FieldProblem, JsonDocument } from "../json/document.ts";
import { modelProblems } from "../prompted-request.ts";
import type { SentFile } from "../http/sent-file.ts";
import { ImageEditRequest } from "./image-edit-request.ts";
import { pictureProblems } from "./picture-problems.ts";

const MAX_SHOWN = 16;

/** Each problem names its field. */
export function readImageEditRequest(
  form: ReadonlyMap<string, string>,
  files: readonly SentFile[],
  formBytes: number,
): ImageEditRequest | { readonly fields: readonly FieldProblem[] } {
  const value: JsonObject = Object.fromEntries(form);
  // Form fields are always strings.
  for (const name of ["n", "partial_images"]) if (/^\d{1,3}$/.test(form.get(name) ?? "")) value[name] = Number(form.get(name));
  if (/^(?:true|false)$/.test(form.get("stream") ?? "")) value.stream = form.get("stream") === "true";
  const document = JsonDocument.read(new TextEncoder().encode(JSON.stringify(value)));
  if (!(document instanceof JsonDocument)) return { fields: [document] };
  const fields = [...modelProblems(document), ...pictureProblems(document.value)];
  const shown = files.filter(({ field }) => field !== "mask").length;
  if (shown === 0) fields.push({ field: "image", message: "is required" });
  if (shown > MAX_SHOWN) fields.push({ field: "image", message: `was sent more than ${MAX_SHOWN} times` });
  return fields.length > 0 ? { fields } : new ImageEditRequest(document, files, formBytes);
}
