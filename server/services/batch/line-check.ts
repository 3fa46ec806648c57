import type { LineToAdd, WrongLine } from "../../directory/batch/batch-records.ts";
import { isStorableText } from "../../kernel/storable.ts";
import { ambiguityOf, ambiguousName } from "../../wire/ambiguous-name.ts";
import { isObject, type JsonObject } from "../../wire/document.ts";
import { BATCH_ENDPOINTS, type BatchEndpoint } from "./batch-endpoints.ts";

export const MOST_LINES = 50_000;
const MOST_PROBLEMS = 20;
const LONGEST_ID = 256;

/** The model that every line of a job asks for; null: each names its own. */
export type JobModel = { readonly model: string } | { readonly model_id: string } | null;

const encoder = new TextEncoder();

/** Looks at the lines of a job one after the other: each is told what is wrong with it by its number and field. */
export class LineCheck {
  /** The first of them, as many as a person reads. */
  readonly problems: WrongLine[] = [];
  private readonly endpoint: BatchEndpoint;
  private readonly model: JobModel;
  private readonly known: ReadonlySet<string>;
  private readonly ids = new Set<string>();

  /** `inFile`: whether a line says its method and address, as those of OpenAI's files do. */
  constructor(endpoint: BatchEndpoint, model: JobModel, inFile: boolean) {
    this.endpoint = endpoint;
    this.model = model;
    this.known = new Set(inFile ? ["custom_id", "method", "url", "body"] : ["custom_id", "body"]);
    this.inFile = inFile;
  }
  private readonly inFile: boolean;

  get isFull(): boolean {
    return this.problems.length >= MOST_PROBLEMS;
  }

  /** Null where something is wrong. `line` counts from 1. */
  read(value: unknown, line: number): LineToAdd | null {
    const before = this.problems.length;
    const wrong = (param: string | null, message: string, code = "invalid_line") => {
      if (!this.isFull) this.problems.push({ line, param, code, message });
    };
    if (line > MOST_LINES) wrong(null, `A job has at most ${MOST_LINES} lines.`, "too_many_lines");
    else if (!isObject(value as JsonObject)) wrong(null, "must be a JSON object");
    else this.readMembers(value as JsonObject, wrong);
    if (this.problems.length > before || this.isFull) return null;
    const { custom_id: customId, body } = value as { custom_id: string; body: JsonObject };
    return { customId, body: JSON.stringify({ ...this.model, ...body }) };
  }

  private readMembers(value: JsonObject, wrong: (param: string | null, message: string, code?: string) => void): void {
    const unclear = ambiguousName(value);
    if (unclear !== null) return wrong(unclear.name, ambiguityOf(unclear), "ambiguous_name");
    for (const name of Object.keys(value)) if (!this.known.has(name)) wrong(name.slice(0, 100), "is not known here");
    const { custom_id: id, method, url, body } = value;
    if (typeof id !== "string" || id === "" || id.length > LONGEST_ID || !isStorableText(id))
      wrong("custom_id", `must be 1 to ${LONGEST_ID} characters of text`);
    else if (this.ids.has(id)) wrong("custom_id", "stands in another line already", "duplicate_custom_id");
    else this.ids.add(id);
    if (this.inFile && method !== "POST") wrong("method", "must be POST", "invalid_method");
    if (this.inFile && url !== this.endpoint) wrong("url", `must be the endpoint of the batch, ${this.endpoint}`, "invalid_url");
    if (body === undefined || !isObject(body)) return wrong("body", "must be a JSON object");
    if (body.stream === true) wrong("body.stream", "must not be true: nobody waits for the stream of a line");
    for (const [name, asked] of Object.entries(this.model ?? {}))
      if (body[name] !== undefined && body[name] !== asked) wrong(`body.${name}`, `must be that of the job, ${asked}`, "model_mismatch");
    const text = JSON.stringify({ ...this.model, ...body });
    if (!isStorableText(text)) return wrong("body", "holds a NUL or half a surrogate pair");
    const read = BATCH_ENDPOINTS[this.endpoint].read(encoder.encode(text));
    if ("fields" in read && Array.isArray(read.fields))
      for (const { field, message } of read.fields) wrong(field === "" ? "body" : `body.${field}`, message);
  }
}
