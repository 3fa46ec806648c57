import { type FieldProblem, JsonDocument } from "../json/document.ts";
import { modelProblems } from "../prompted-request.ts";
import { pictureProblems } from "./picture-problems.ts";
import { OURS, PicturesRequest } from "./pictures-request.ts";

/** OpenAI's own image models always return bytes and refuse `response_format`. */
const ALWAYS_BYTES = /(^|\/)(gpt-image|chatgpt-image)/;

/** POST /images/generations in OpenAI's format. */
export class ImagesRequest extends PicturesRequest {
  readonly operation = "images";

  override outbound(changes: { readonly model: string }): string {
    const edits = new Map<string, string | null>();
    for (const name of OURS) if (this.document.has(name)) edits.set(name, null);
    const { response_format } = this.document.value;
    if (!givesBytesAlways(changes.model)) {
      if (response_format !== "b64_json") edits.set("response_format", '"b64_json"');
    } else if (this.document.has("response_format")) edits.set("response_format", null);
    return super.outbound(changes, edits);
  }
}

export function givesBytesAlways(model: string): boolean {
  return ALWAYS_BYTES.test(model);
}

/** Each problem names its field. */
export function readImagesRequest(bytes: Uint8Array): ImagesRequest | { readonly fields: readonly FieldProblem[] } {
  const document = JsonDocument.read(bytes);
  if (!(document instanceof JsonDocument)) return { fields: [document] };
  const fields = [...modelProblems(document), ...pictureProblems(document.value)];
  return fields.length > 0 ? { fields } : new ImagesRequest(document);
}
