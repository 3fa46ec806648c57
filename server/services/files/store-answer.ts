import { isRefusal } from "../../kernel/errors.ts";
import type { WholeAnswer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { objectsOf } from "../../wire/openai/loose-fields.ts";
import { replyObject } from "../../wire/openai/reply-object.ts";
import { callerOf, type CallerFile, type FileService, noteFiles, type FileDescription } from "./caller.ts";

/** Lifetime of a picture's signed URL, seconds. */
const GOOD_SECONDS = 900;
const FILE_ID_HEADER = "x-gw-file-id";

/** Storage for files that models make, and the base URL for callers. */
export interface AnswerStore {
  readonly files: FileService;
  /** The runtime plane's public URL, if configured. */
  readonly publicUrl: string | null;
}

/**
 * Stores each picture of an answer and replaces it with a signed URL. A picture that cannot be stored stays in the answer as base64,
 * because it was paid for.
 */
export async function withAddresses(
  call: Call,
  answer: WholeAnswer,
  { files, publicUrl }: AnswerStore,
  description: Pick<FileDescription, "chatId" | "displayName">,
): Promise<WholeAnswer> {
  const body = replyObject(answer.body);
  if (body === null) return answer;
  const modelId = typeof body.gw_model_id === "string" ? body.gw_model_id : null;
  const stored: CallerFile[] = [];
  for (const [picture] of objectsOf(body.data)) {
    if (typeof picture.b64_json !== "string") continue;
    const bytes = Buffer.from(picture.b64_json, "base64");
    const file = await store(call, files, inPieces(bytes), { ...description, kind: "image", modelId });
    if (file === null) continue;
    stored.push(file);
    picture.url = new URL(files.signedPath(file, GOOD_SECONDS), publicUrl ?? call.url).href;
    picture.b64_json = null;
  }
  if (stored.length === 0) return answer;
  noteFiles(call, stored);
  return { ...answer, headers: { ...answer.headers, "cache-control": "no-store" }, body: new TextEncoder().encode(JSON.stringify(body)) };
}

/** Stores generated or transcribed audio. Returns the header with the file's ID, or no header if it could not be stored. */
export async function storeAudio(
  call: Call,
  files: FileService,
  bytes: AsyncIterable<Uint8Array>,
  description: FileDescription,
): Promise<Record<string, string>> {
  const file = await store(call, files, bytes, description);
  if (file === null) return {};
  noteFiles(call, [file]);
  return { [FILE_ID_HEADER]: file.id };
}

/** Null if it could not be stored; the reason is recorded on the row. */
async function store(call: Call, files: FileService, bytes: AsyncIterable<Uint8Array>, facts: FileDescription): Promise<CallerFile | null> {
  const { owner, tenant } = callerOf(call);
  const file = await files.store(owner, tenant, bytes, facts);
  if (!isRefusal(file)) return file;
  const known = call.row.custom_metadata;
  call.row.custom_metadata = { ...(isObject(known as JsonObject) ? (known as JsonObject) : {}), file_not_stored: file.code };
  return null;
}

const PIECE = 1024 * 1024;

export async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += PIECE) yield bytes.subarray(at, at + PIECE);
}
