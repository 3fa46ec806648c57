import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import type { FieldProblem } from "../json/document.ts";

const absent = (value: unknown): boolean => value === null || value === undefined;

/** Limits the size of the error answer. */
export const MAX_PROBLEMS = 20;

/** The checks shared by OpenAI's endpoints. They run on every call, so they are limited to what governance reads. */
export class BodyChecks {
  readonly fields: FieldProblem[] = [];
  private readonly body: JsonObject;

  constructor(body: JsonObject) {
    this.body = body;
  }

  add(field: string, message: string): void {
    this.fields.push({ field, message });
  }

  model(): void {
    const before = this.fields.length;
    this.name("model");
    this.name("model_id");
    if (this.fields.length === before && absent(this.body.model) && absent(this.body.model_id)) {
      this.add("model", "is required: name a model with `model`, or with `model_id` its gateway id");
    }
  }

  boolean(field: string): void {
    if (!absent(this.body[field]) && typeof this.body[field] !== "boolean") this.add(field, "must be true or false");
  }

  object(field: string): void {
    if (!absent(this.body[field]) && !isObject(this.body[field])) this.add(field, "must be an object");
  }

  number(field: string): void {
    if (!absent(this.body[field]) && typeof this.body[field] !== "number") this.add(field, "must be a number");
  }

  string(field: string): void {
    if (!absent(this.body[field]) && typeof this.body[field] !== "string") this.add(field, "must be a string");
  }

  whole(field: string, least = 0): void {
    const value = this.body[field];
    if (absent(value) || (typeof value === "number" && Number.isSafeInteger(value) && value >= least)) return;
    this.add(field, least === 0 ? "must be a whole number" : `must be a whole number of at least ${least}`);
  }

  /** A list of objects that `openAiToolName` can name. */
  tools(field: string): void {
    const tools = this.body[field];
    if (absent(tools)) return;
    if (!Array.isArray(tools)) return this.add(field, "must be an array");
    for (let i = 0; i < tools.length && this.fields.length < MAX_PROBLEMS; i++) {
      const tool: unknown = tools[i];
      if (!isObject(tool)) this.add(`${field}[${i}]`, "must be an object");
      else if (!absent(tool.name) && typeof tool.name !== "string") this.add(`${field}[${i}].name`, "must be a string");
      else {
        for (const kind of ["function", "custom"]) {
          const inner = tool[kind];
          if (isObject(inner) && typeof inner.name !== "string") this.add(`${field}[${i}].${kind}.name`, "must be a string");
        }
      }
    }
  }

  private name(field: "model" | "model_id"): void {
    const value = this.body[field];
    if (absent(value) || (typeof value === "string" && value !== "" && value.length <= 512)) return;
    this.add(field, "must be a non-empty string");
  }
}
