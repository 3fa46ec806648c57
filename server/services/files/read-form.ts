import type { Readable } from "node:stream";
import { Busboy } from "@fastify/busboy";
import { isRefusal, reasonOf, type Refusal, refuse } from "../../kernel/errors.ts";

const FIELDS = 12;
const FIELD_BYTES = 4_096;
/** Silence after which a body is given up, and the longest one may take, milliseconds. */
const IDLE_MS = 60_000;
const LONGEST_MS = 3_600_000;

export interface FormFile {
  readonly name: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Fields that stood before the file: others may follow it. */
  readonly fieldsSoFar: ReadonlyMap<string, string>;
}

export interface ReadForm<T> {
  readonly fields: ReadonlyMap<string, string>;
  readonly file: T;
  /** Of the whole body. */
  readonly bytes: number;
}

const invalid = (field: string, message: string): Refusal => refuse("invalid_body", undefined, { fields: [{ field, message }] });

/**
 * Reads multipart/form-data with one file, `file`, which goes to `take` as it comes: never more of the body is held than
 * one piece. What `take` refuses ends the reading at once. `undo` is told of a file that was taken when the rest of the
 * body was not to be read.
 */
export async function readForm<T extends object>(
  body: ReadableStream<Uint8Array> | undefined,
  contentType: string | null,
  take: (file: FormFile) => Promise<T | Refusal>,
  undo: (taken: T) => Promise<void>,
): Promise<ReadForm<T> | Refusal> {
  if (contentType === null || !/^multipart\/form-data\s*;/i.test(contentType) || body === undefined)
    return invalid("", "must be multipart/form-data");
  const fields = new Map<string, string>();
  const reader = body.getReader();
  let problem: Refusal | null = null;
  let taking: Promise<T | Refusal> | null = null;
  let incoming: Readable | null = null;
  let wake = (): void => undefined;
  const stop = (why: Refusal): void => {
    problem ??= why;
    wake();
    void reader.cancel().catch(() => undefined);
  };
  let parser: InstanceType<typeof Busboy>;
  try {
    const limits = { files: 1, fields: FIELDS, fieldSize: FIELD_BYTES, fieldNameSize: 100, headerPairs: 20 };
    parser = new Busboy({ headers: { "content-type": contentType }, limits });
  } catch (error) {
    void reader.cancel().catch(() => undefined);
    return invalid("", `is not multipart/form-data: ${reasonOf(error)}`);
  }
  const finished = Promise.withResolvers<void>();
  parser.on("finish", () => finished.resolve());
  parser.on("error", (error: unknown) => {
    stop(invalid("", `is not multipart/form-data: ${reasonOf(error)}`));
    finished.resolve();
  });
  parser.on("filesLimit", () => stop(invalid("file", "was sent more than once")));
  parser.on("fieldsLimit", () => stop(invalid("", `has more than ${FIELDS} fields`)));
  parser.on("field", (name, value, nameCut, valueCut) => {
    if (nameCut || valueCut) stop(invalid(name.slice(0, 100), `is longer than ${FIELD_BYTES} bytes`));
    else if (fields.has(name)) stop(invalid(name, "was sent more than once"));
    else fields.set(name, value);
  });
  parser.on("file", (field, stream, name) => {
    incoming = stream;
    // Whoever reads it is told by its reading; an error nobody listens for would end the process.
    stream.on("error", () => undefined);
    if (field !== "file") {
      stream.resume();
      stop(invalid(field.slice(0, 100), "is not known here as a file"));
      return;
    }
    taking = take({ name, bytes: stream, fieldsSoFar: fields });
    void taking
      .then((taken) => isRefusal(taken) && stop(taken))
      .catch((error: Error) => stop(refuse("internal_error", undefined, { reason: reasonOf(error) })));
  });

  const total = setTimeout(() => stop(refuse("body_timeout", undefined, CLOSING)), LONGEST_MS);
  let bytes = 0;
  try {
    while (problem === null) {
      const idle = setTimeout(() => stop(refuse("body_timeout", undefined, CLOSING)), IDLE_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(idle));
      if (done) break;
      bytes += value.byteLength;
      if (!parser.write(Buffer.from(value.buffer, value.byteOffset, value.byteLength)))
        await new Promise<void>((resolve) => {
          wake = resolve;
          parser.once("drain", resolve);
          if (problem !== null) resolve();
        });
    }
    if (problem === null) {
      parser.end();
      await Promise.race([finished.promise, new Promise<void>((resolve) => (wake = resolve))]);
    }
  } catch (error) {
    problem ??= refuse("invalid_body", "The request body broke off.", { reason: reasonOf(error) });
  } finally {
    clearTimeout(total);
  }
  return outcome(problem, incoming, taking, undo, { fields, bytes });
}

const CLOSING = { headers: { connection: "close" } };

async function outcome<T extends object>(
  problem: Refusal | null,
  incoming: Readable | null,
  taking: Promise<T | Refusal> | null,
  undo: (taken: T) => Promise<void>,
  read: Pick<ReadForm<T>, "fields" | "bytes">,
): Promise<ReadForm<T> | Refusal> {
  if (problem !== null) {
    incoming?.destroy(new Error("the upload was ended"));
    const taken = await taking?.catch(() => null);
    if (taken != null && !isRefusal(taken)) await undo(taken);
    return problem;
  }
  if (taking === null) return invalid("file", "is required");
  const taken = await taking;
  return isRefusal(taken) ? taken : { ...read, file: taken };
}
