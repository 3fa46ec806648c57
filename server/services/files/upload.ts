import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import { refusedCoding } from "../../road/request/read-body.ts";
import type { FileKind } from "../../kernel/files/file-kinds.ts";
import { type CallerFile, callerOf, type FileService, noteFile, type FileDescription } from "./caller.ts";
import { readForm } from "./read-form.ts";
import { unstorableFacts } from "./file-description.ts";
import { ONE_FILE } from "./upload-form.ts";

type Fields = ReadonlyMap<string, string>;

export interface UploadFields {
  /** The file's kind, whose size limit applies before all fields are known. */
  kindOf(fields: Fields): FileKind | null;
  /** The file's facts, from all fields. */
  factsOf(fields: Fields, fileName: string): FileDescription | Refusal;
}

const unknownLists = (names: readonly string[]): Refusal =>
  refuse("invalid_body", undefined, { fields: names.map((field) => ({ field: field.slice(0, 100), message: "is not known here" })) });

/** Stores the file of a form and creates its record. */
export async function upload(call: Call, files: FileService, form: UploadFields): Promise<CallerFile | Refusal> {
  const { owner, tenant } = callerOf(call);
  const coded = refusedCoding(call);
  if (coded !== null) return coded;
  const read = await readForm(
    call.arriving,
    call.headers.get("content-type"),
    ONE_FILE,
    async ({ name, bytes, fieldsSoFar }) => {
      const received = await files.receive(owner.tenantId, bytes, () => form.kindOf(fieldsSoFar));
      return isRefusal(received) ? received : { name, received };
    },
    ({ received }) => files.discard(received),
  );
  if (isRefusal(read)) return read;
  call.row.request_size_bytes = read.bytes;
  const { name, received } = read.files[0] as (typeof read.files)[number];
  // The hash on the row is of the stored bytes, not of the multipart body.
  call.row.request_content_hash = received.hash;
  const facts = read.lists.size > 0 ? unknownLists([...read.lists.keys()]) : form.factsOf(read.fields, name);
  const unclear = isRefusal(facts) ? facts : unstorableFacts(facts);
  if (isRefusal(facts) || unclear !== null) {
    await files.discard(received);
    return unclear ?? (facts as Refusal);
  }
  const file = await files.record(owner, tenant, received, facts);
  if (!isRefusal(file)) noteFile(call, file);
  return file;
}
