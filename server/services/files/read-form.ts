import type { Readable } from "node:stream";
import { Busboy } from "@fastify/busboy";
import { isRefusal, reasonOf, type Refusal, refuse } from "../../kernel/errors.ts";
import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import { piecesInTime } from "./pieces-in-time.ts";
import type { FormBounds, FormFile, ReadForm } from "./upload-form.ts";

const invalid = (field: string, message: string): Refusal => refuse("invalid_body", undefined, { fields: [{ field, message }] });
/** Extra parts allowed beyond files and fields; no client sends any, and each takes time to skip. */
const PARTS_BEYOND = 10;
/** Most bytes besides files and fields: part headers, preamble and epilogue. */
const MAX_OVERHEAD_BYTES = 1024 * 1024;
const CLOSING = { headers: { connection: "close" } };

/**
 * Reads multipart/form-data and passes its files to `take` as they arrive, holding no more than one piece of the body. A refusal by `take`
 * ends the reading at once. `undo` is called for each file already taken if the form is refused.
 */
export async function readForm<T extends object>(
  body: ReadableStream<Uint8Array> | undefined,
  contentType: string | null,
  bounds: FormBounds,
  take: (file: FormFile) => Promise<T | Refusal>,
  undo: (taken: T) => Promise<void>,
): Promise<ReadForm<T> | Refusal> {
  if (contentType === null || !/^multipart\/form-data\s*;/i.test(contentType) || body === undefined)
    return invalid("", "must be multipart/form-data");
  const reader = body.getReader();
  let parts: FormParts<T>;
  try {
    parts = new FormParts(contentType, bounds, take, () => void cancelQuietly(reader));
  } catch (error) {
    void cancelQuietly(reader);
    return invalid("", `is not multipart/form-data: ${reasonOf(error)}`);
  }
  const late = () => parts.stop(refuse("body_timeout", undefined, CLOSING));
  let bytes = 0;
  try {
    for await (const piece of piecesInTime(reader, late)) {
      bytes += piece.byteLength;
      await parts.write(piece);
      parts.checkBeside(bytes);
      if (parts.problem !== null) break;
    }
    await parts.end();
  } catch (error) {
    parts.stop(refuse("invalid_body", "The request body broke off.", { reason: reasonOf(error) }));
  }
  return parts.outcome(bytes, undo);
}

/** The parts of one form as they arrive. */
class FormParts<T extends object> {
  /** Why the reading ended early; null while it goes on. */
  problem: Refusal | null = null;
  private readonly bounds: FormBounds;
  private readonly cancel: () => void;
  private readonly fields = new Map<string, string>();
  private readonly lists = new Map<string, string[]>();
  private readonly counts = new Map<string, number>();
  private readonly taking: Promise<T | Refusal>[] = [];
  private readonly parser: InstanceType<typeof Busboy>;
  private readonly finished = Promise.withResolvers<void>();
  private incoming: Readable | null = null;
  private readonly fileSizes: { readonly bytesRead: number }[] = [];
  private wake = (): void => undefined;

  constructor(contentType: string, bounds: FormBounds, take: (file: FormFile) => Promise<T | Refusal>, cancel: () => void) {
    this.bounds = bounds;
    this.cancel = cancel;
    const files = Object.values(bounds.files).reduce((sum, most) => sum + most, 0);
    const parts = files + bounds.fields + PARTS_BEYOND;
    const limits = { files, fields: bounds.fields, parts, fieldSize: bounds.fieldBytes, fieldNameSize: 100, headerPairs: 20 };
    this.parser = new Busboy({ headers: { "content-type": contentType }, limits });
    this.parser.on("finish", () => this.finished.resolve());
    this.parser.on("error", (error: unknown) => {
      this.stop(invalid("", `is not multipart/form-data: ${reasonOf(error)}`));
      this.finished.resolve();
    });
    this.parser.on("filesLimit", () => this.stop(invalid(Object.keys(bounds.files)[0] ?? "", "was sent more often than it may be")));
    this.parser.on("fieldsLimit", () => this.stop(invalid("", `has more than ${bounds.fields} fields`)));
    this.parser.on("partsLimit", () => this.stop(invalid("", `has more than ${parts} parts`)));
    this.parser.on("field", (name, value, nameCut, valueCut) => this.field(name, value, nameCut || valueCut));
    // A part may be a file by its type alone, without a filename.
    this.parser.on("file", (field, stream, name: string | undefined) => this.file(field, stream, name ?? "", take));
  }

  stop(why: Refusal): void {
    this.problem ??= why;
    this.wake();
    this.cancel();
  }

  async write(value: Uint8Array): Promise<void> {
    if (this.parser.write(Buffer.from(value.buffer, value.byteOffset, value.byteLength))) return;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
      this.parser.once("drain", resolve);
      if (this.problem !== null) resolve();
    });
  }

  /** `bytes`: total bytes received. Files are bounded by `take`; this bounds everything else, including skipped parts. */
  checkBeside(bytes: number): void {
    const ofFiles = this.fileSizes.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    if (bytes - ofFiles > MAX_OVERHEAD_BYTES + this.bounds.fields * this.bounds.fieldBytes)
      this.stop(refuse("body_too_large", "The form has too much in it that is neither a file nor a field.", CLOSING));
  }

  async end(): Promise<void> {
    if (this.problem !== null) return;
    this.parser.end();
    await Promise.race([this.finished.promise, new Promise<void>((resolve) => (this.wake = resolve))]);
  }

  async outcome(bytes: number, undo: (taken: T) => Promise<void>): Promise<ReadForm<T> | Refusal> {
    if (this.problem === null) this.problem = this.wrongInWhole();
    if (this.problem !== null) this.incoming?.destroy(new Error("the upload was ended"));
    const taken = await Promise.all(this.taking.map((one) => one.catch(() => null)));
    const files = taken.filter((one): one is Awaited<T> => one !== null && !isRefusal(one));
    const { problem = null } = this;
    const refused = problem ?? taken.find((one) => one !== null && isRefusal(one)) ?? null;
    if (refused === null) return { fields: this.fields, lists: this.lists, files, bytes };
    for (const one of files) await undo(one);
    return refused as Refusal;
  }

  /** Problems that only show once all parts were read. */
  private wrongInWhole(): Refusal | null {
    const required = Object.keys(this.bounds.files)[0] as string;
    if (this.taking.length === 0 && this.bounds.noFile !== true)
      return invalid(required, this.fields.has(required) ? "must be sent as a file: its part names no filename" : "is required");
    const both = [...this.counts.keys()].find((name) => this.fields.has(name));
    return both === undefined ? null : invalid(both, "was sent as a file and as text");
  }

  private field(name: string, value: string, cut: boolean): void {
    if (cut) this.stop(invalid(name.slice(0, 100), `is longer than ${this.bounds.fieldBytes} bytes`));
    else if (name.endsWith("[]")) this.lists.set(name, [...(this.lists.get(name) ?? []), value]);
    else if (this.fields.has(name)) this.stop(invalid(name, "was sent more than once"));
    else this.fields.set(name, value);
  }

  private file(
    field: string,
    stream: Readable & { readonly bytesRead: number },
    name: string,
    take: (file: FormFile) => Promise<T | Refusal>,
  ): void {
    this.incoming = stream;
    this.fileSizes.push(stream);
    // The reader of the stream handles the error; without a listener it would end the process.
    stream.on("error", () => undefined);
    const most = Object.hasOwn(this.bounds.files, field) ? this.bounds.files[field] : undefined;
    const count = (this.counts.get(field) ?? 0) + 1;
    this.counts.set(field, count);
    if (most === undefined || count > most) {
      stream.resume();
      this.stop(invalid(field.slice(0, 100), most === undefined ? "is not known here as a file" : "was sent more often than it may be"));
      return;
    }
    const taking = take({ field, name, bytes: stream, fieldsSoFar: this.fields });
    this.taking.push(taking);
    void taking
      .then((taken) => isRefusal(taken) && this.stop(taken))
      .catch((error: Error) => this.stop(refuse("internal_error", undefined, { reason: reasonOf(error) })));
  }
}
