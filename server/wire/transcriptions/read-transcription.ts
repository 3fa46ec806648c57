import type { MediaFile } from "../../kernel/files/media-file.ts";
import { type FieldProblem, JsonDocument } from "../json/document.ts";
import { storedTextProblems } from "../texts/kept-texts.ts";
import { modelProblems } from "../prompted-request.ts";
import { TRANSCRIPT_FORMATS, TranscriptionRequest } from "./transcription-request.ts";

/** Members that are stored with the transcript's file. */
const KEPT = ["chat_id", "display_name"] as const;

const FLAGS: ReadonlySet<string> = new Set(["stream", "persist"]);

/** Each problem names its field. Flags may be in any case: Python writes a boolean into a form as `True`. */
export function readTranscriptionRequest(
  operation: TranscriptionRequest["operation"],
  fields: ReadonlyMap<string, string>,
  lists: ReadonlyMap<string, readonly string[]>,
  file: MediaFile,
  formBytes: number,
): TranscriptionRequest | { readonly fields: readonly FieldProblem[] } {
  const told = [...fields].map(([name, value]) => [name, FLAGS.has(name) ? value.toLowerCase() : value]);
  const document = JsonDocument.read(new TextEncoder().encode(JSON.stringify(Object.fromEntries([...told, ...lists]))));
  if (!(document instanceof JsonDocument)) return { fields: [document] };
  const problems = modelProblems(document);
  const { response_format: format, stream, persist } = document.value;
  const check = (field: string, good: boolean, message: string) => {
    if (!good) problems.push({ field, message });
  };
  const known = [...Object.keys(TRANSCRIPT_FORMATS), ...(operation === "transcriptions" ? ["diarized_json"] : [])];
  check("response_format", format === undefined || known.includes(format as string), `must be one of ${known.join(", ")}`);
  for (const [name, value] of [
    ["stream", stream],
    ["persist", persist],
  ] as const)
    check(name, value === undefined || value === "true" || value === "false", "must be true or false");
  check("stream", stream !== "true" || operation === "transcriptions", "must be false: translations are given whole");
  check(
    "stream",
    stream !== "true" || format === undefined || (format as string).endsWith("json"),
    "must be false for this response_format",
  );
  for (const name of KEPT) check(name, document.value[name] !== "", "must be a text that is not empty");
  problems.push(...storedTextProblems(document.value, KEPT));
  return problems.length > 0 ? { fields: problems } : new TranscriptionRequest(document, operation, file, formBytes);
}
