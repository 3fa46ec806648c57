import { isStorableText } from "../../kernel/text/storable.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { type FieldProblem, JsonDocument } from "../json/document.ts";
import { jsonMembersOf } from "../json/json-members.ts";
import type { InputPiece } from "./text-lines.ts";

export interface ReadLine {
  readonly customId: string;
  /** The exact text of the request body. */
  readonly body: string;
  /** The model named in the body; null if the body uses a model ID. */
  readonly model: string | null;
  /** The endpoint named by the line; null if it names none. */
  readonly url: string | null;
}

/**
 * The member of a line that holds the request: `body` in OpenAI's form, which may also name method and endpoint; `params`
 * in Anthropic's.
 */
export type LineForm = "body" | "params";

const MAX_ID_LENGTH = 512;
const KNOWN: Readonly<Record<LineForm, ReadonlySet<string>>> = {
  body: new Set(["custom_id", "method", "url", "body"]),
  params: new Set(["custom_id", "params"]),
};

/** Reads one line of a batch. `endpoint` is what `url` must be; null if lines do not name their endpoint. */
export function readBatchLine({ text }: InputPiece, form: LineForm, endpoint: string | null): ReadLine | readonly FieldProblem[] {
  const document = JsonDocument.read(text);
  if (!(document instanceof JsonDocument)) return [document];
  const { value } = document;
  const problems: FieldProblem[] = [];
  const { custom_id: customId, method, url } = value;
  const body = value[form];
  for (const name of Object.keys(value))
    if (!KNOWN[form].has(name)) problems.push({ field: name.slice(0, 100), message: "is not known here" });
  if (typeof customId !== "string" || customId.length === 0 || customId.length > MAX_ID_LENGTH || !isStorableText(customId))
    problems.push({ field: "custom_id", message: `must be 1 to ${MAX_ID_LENGTH} characters of text` });
  if (method === undefined ? endpoint !== null : method !== "POST") problems.push({ field: "method", message: "must be POST" });
  if (endpoint !== null && url !== endpoint) problems.push({ field: "url", message: `must be ${endpoint}, as the endpoint of the batch` });
  else if (url !== undefined && typeof url !== "string") problems.push({ field: "url", message: "must be text" });
  if (!isObject(body)) problems.push({ field: form, message: "must be an object" });
  else {
    if (body.stream !== undefined && body.stream !== null && body.stream !== false)
      problems.push({ field: `${form}.stream`, message: "must not be set: nobody reads a stream of a batch" });
    if (body.model !== undefined && typeof body.model !== "string") problems.push({ field: `${form}.model`, message: "must be text" });
    else if (typeof body.model === "string" && !isStorableText(body.model))
      problems.push({ field: `${form}.model`, message: "holds a NUL or half a surrogate pair" });
  }
  if (problems.length > 0) return problems;
  const source = new TextDecoder().decode(text);
  const member = jsonMembersOf(source).find(({ name }) => name === form);
  const { model, model_id: modelId } = body as JsonObject;
  return {
    customId: customId as string,
    body: member === undefined ? JSON.stringify(body) : source.slice(member.valueStart, member.valueEnd),
    model: typeof model === "string" && modelId == null ? model : null,
    url: typeof url === "string" ? url : null,
  };
}
