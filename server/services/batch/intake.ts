import type { BatchStore } from "../../directory/batch/batch-store.ts";
import { type LineForm, readBatchLine, type ReadLine } from "../../wire/batch/batch-line.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { type FieldProblem, JsonDocument } from "../../wire/json/document.ts";
import { type InputPiece, PieceTooLong } from "../../wire/batch/text-lines.ts";
import { type BatchEndpoint, problemsOfBody } from "./endpoints.ts";

export const MAX_LINES = 50_000;
export const MAX_INPUT_BYTES = 200 * 1024 * 1024;
export const MAX_LINE_BYTES = 8 * 1024 * 1024;
const MAX_PROBLEMS = 20;
const LINES_AT_ONCE = 200;
/** Types of Responses API input items that are tool calls or their outputs. */
const CALLED = /_call(?:_output)?$/;
const BYTES_AT_ONCE = 1024 * 1024;

/** A problem of one line of the input; `number` is null for one of the whole input. */
export interface NumberedProblem extends FieldProblem {
  readonly number: number | null;
}

export interface JobModel {
  readonly model: string | null;
  readonly modelId: string | null;
}

/** The endpoint and headers that a job's lines are called with. */
export interface LinesSentTo {
  readonly endpoint: BatchEndpoint;
  /** The caller's headers that a vendor acts on; null for none. */
  readonly vendorHeaders: Readonly<Record<string, string>> | null;
}

/** Stores the lines of one job as they arrive, and validates them. */
export class Intake {
  readonly problems: NumberedProblem[] = [];
  /** Whether a problem ended the reading; the rest of the input was not checked. */
  cut = false;
  total = 0;
  /** The one model that the lines name; null if they name several, or none. */
  model: string | null = null;
  /** Whether a line defines tools or contains tool calls. */
  tools = false;
  private severalModels = false;
  /** The endpoints that lines name, each with the number of the first line that names it. */
  private readonly urls = new Map<string, number>();
  private readonly store: BatchStore;
  private readonly job: { readonly id: string; readonly tenant_id: string };
  private readonly ids = new Map<string, number>();
  private readonly form: LineForm;
  private waiting: { line: number; customId: string; body: string }[] = [];
  private waitingBytes = 0;

  constructor(store: BatchStore, job: { readonly id: string; readonly tenant_id: string }, form: LineForm) {
    this.store = store;
    this.job = job;
    this.form = form;
  }

  /** `endpoint`: what each line has to name; null if lines do not name one. */
  async take(pieces: AsyncIterable<InputPiece>, endpoint: string | null): Promise<void> {
    let bytes = 0;
    try {
      for await (const piece of pieces) {
        bytes += piece.text.byteLength;
        if (this.total >= MAX_LINES) return this.cutOff(null, `has more than ${MAX_LINES} lines`);
        if (bytes > MAX_INPUT_BYTES) return this.cutOff(null, "is larger than 200 MiB");
        this.total++;
        const read = readBatchLine(piece, this.form, endpoint);
        if ("customId" in read) this.add(piece.number, read);
        else for (const problem of read) this.problem(piece.number, problem);
        this.cut = this.problems.length >= MAX_PROBLEMS;
        if (this.cut) return;
        if (this.waiting.length >= LINES_AT_ONCE || this.waitingBytes >= BYTES_AT_ONCE) await this.flush();
      }
    } catch (error) {
      if (!(error instanceof PieceTooLong)) throw error;
      const most = `${MAX_LINE_BYTES / 1024 / 1024} MiB`;
      return this.cutOff(error.number, error.number === null ? `has more than ${most} beside its lines` : `is larger than ${most}`);
    }
    if (this.total === 0 && this.problems.length === 0) this.problem(null, { field: "", message: "has no lines" });
    await this.flush();
  }

  /** Validates every body as a call with it would be. */
  async check(job: LinesSentTo, { model, modelId }: JobModel): Promise<void> {
    const { endpoint } = job;
    for (const [url, number] of this.urls)
      if (url !== endpoint) this.problem(number, { field: "url", message: `must be ${endpoint}, as the endpoint of the batch` });
    for (let after = 0; this.problems.length < MAX_PROBLEMS;) {
      const rows = await this.store.bodiesAfter(this.job, after, LINES_AT_ONCE);
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.line;
      for (const { line, body } of rows) for (const problem of this.wrongIn(body, job, { model, modelId })) this.problem(line, problem);
    }
  }

  private wrongIn(body: string, { endpoint, vendorHeaders }: LinesSentTo, named: JobModel): readonly FieldProblem[] {
    const document = JsonDocument.read(new TextEncoder().encode(body));
    if (!(document instanceof JsonDocument)) return [this.inBody(document)];
    this.tools ||= hasTools(document.value);
    const other = otherModel(document.value, named);
    if (other !== null) return [this.inBody(other)];
    return problemsOfBody(endpoint, withModel(document, named), vendorHeaders).map((problem) => this.inBody(problem));
  }

  private inBody(problem: FieldProblem): FieldProblem {
    const { field } = problem;
    return { ...problem, field: field === "" ? this.form : `${this.form}.${field}` };
  }

  private add(line: number, { customId, body, model, url }: ReadLine): void {
    const before = this.ids.get(customId);
    if (before !== undefined) {
      this.problem(line, { field: "custom_id", message: `was used before, by number ${before}` });
      return;
    }
    this.ids.set(customId, line);
    if (url !== null && this.urls.size < MAX_PROBLEMS && !this.urls.has(url)) this.urls.set(url, line);
    if (!this.severalModels && this.model !== model) {
      if (this.ids.size === 1) this.model = model;
      else {
        this.severalModels = true;
        this.model = null;
      }
    }
    this.waiting.push({ line, customId, body });
    this.waitingBytes += body.length;
  }

  private cutOff(number: number | null, message: string): void {
    this.cut = true;
    this.problem(number, { field: "", message });
  }

  private problem(number: number | null, problem: FieldProblem): void {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ ...problem, number });
  }

  private async flush(): Promise<void> {
    if (this.waiting.length === 0) return;
    const { waiting } = this;
    this.waiting = [];
    this.waitingBytes = 0;
    if (this.problems.length === 0) await this.store.addLines(this.job, waiting);
  }
}

/** If a job names its model, its lines may name no other, neither by name nor by ID. */
function otherModel(body: JsonObject, { model, modelId }: JobModel): FieldProblem | null {
  if (model !== null && body.model !== undefined && body.model !== model)
    return { field: "model", message: `names another model than the job, ${JSON.stringify(model)}` };
  if (model !== null && body.model_id != null) return { field: "model_id", message: "must be left out: the job names its model" };
  if (modelId === null) return null;
  if (body.model !== undefined) return { field: "model", message: "must be left out: the job names its model by its id" };
  return body.model_id != null && body.model_id !== modelId
    ? { field: "model_id", message: `names another model than the job, ${JSON.stringify(modelId)}` }
    : null;
}

/** The body with the job's model added, unless it names a model itself. */
export function withModel(document: JsonDocument, { model, modelId }: JobModel): string {
  const { value } = document;
  if (value.model !== undefined || value.model_id !== undefined) return document.text();
  if (model !== null) return document.text(new Map([["model", JSON.stringify(model)]]));
  return modelId === null ? document.text() : document.text(new Map([["model_id", JSON.stringify(modelId)]]));
}

/** For bodies of every format that lines may have. */
function hasTools({ tools, functions, messages, input }: JsonObject): boolean {
  const some = (value: unknown) => Array.isArray(value) && value.length > 0;
  const turns = [messages, input].flatMap((list) => (Array.isArray(list) ? list.filter(isObject) : []));
  return (
    some(tools) ||
    some(functions) ||
    turns.some((turn) => turn.tool_calls != null || turn.role === "tool" || CALLED.test(String(turn.type)) || usesTools(turn.content))
  );
}

/** Content blocks of the Messages format. */
function usesTools(content: unknown): boolean {
  return Array.isArray(content) && content.some((block) => isObject(block) && /^(?:.*_)?tool_(?:use|result)$/.test(String(block.type)));
}
