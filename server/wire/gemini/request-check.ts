import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { FieldProblem } from "../json/document.ts";
import { snakeName, spellingIn } from "./member-names.ts";
import { member } from "./members.ts";

const MAX_PROBLEMS = 20;

const TOP = ["systemInstruction", "generationConfig", "toolConfig", "cachedContent", "safetySettings", "serviceTier"];
const CONFIG = ["maxOutputTokens", "candidateCount"];
const PART = [
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
];

/**
 * Validates what governance reads in a generateContent body: the types of members, and that no member has both spellings,
 * because it is unknown which one the provider would use. Returns at most 20 problems.
 */
export function geminiProblems(body: JsonObject): FieldProblem[] {
  const check = new Check();
  check.spelledOnce(body, TOP, "");
  const contents = member(body, "contents");
  if (contents === undefined || (Array.isArray(contents) && contents.length === 0)) check.add("contents", "must be a non-empty array");
  else check.each(body, "contents", "", (content, at) => check.content(content, at));
  check.object(body, "systemInstruction", "", (content, at) => check.content(content, at));
  check.each(body, "tools", "", (tool, at) => {
    check.spelledOnce(tool, ["functionDeclarations"], `${at}.`);
    check.each(tool, "functionDeclarations", `${at}.`, (declaration, place) => check.text(declaration, "name", place, true));
  });
  check.object(body, "toolConfig", "", (config, at) => {
    check.spelledOnce(config, ["functionCallingConfig"], `${at}.`);
    check.object(config, "functionCallingConfig", `${at}.`, () => {});
  });
  check.object(body, "generationConfig", "", (config, at) => {
    check.spelledOnce(config, CONFIG, `${at}.`);
    const temperature = member(config, "temperature");
    if (temperature !== undefined && typeof temperature !== "number") check.add(`${at}.temperature`, "must be a number");
    for (const name of CONFIG) check.wholeNumber(config, name, at);
  });
  return check.problems.slice(0, MAX_PROBLEMS);
}

class Check {
  readonly problems: FieldProblem[] = [];

  add(field: string, message: string): void {
    this.problems.push({ field, message });
  }

  spelledOnce(object: JsonObject, names: readonly string[], before: string): void {
    for (const name of names) {
      const snake = snakeName(name);
      if (object[name] !== undefined && object[snake] !== undefined) this.add(`${before}${snake}`, `stands twice, as ${name} too`);
    }
  }

  /** Visits a list of objects, or a single object. */
  each(holder: JsonObject, name: string, before: string, visit: (item: JsonObject, at: string) => void): void {
    const value = member(holder, name);
    if (value === undefined) return;
    const at = `${before}${spellingIn(holder, name)}`;
    if (!Array.isArray(value)) {
      if (isObject(value)) visit(value, at);
      else this.add(at, "must be an array");
      return;
    }
    for (const [i, item] of value.entries()) {
      if (this.problems.length >= MAX_PROBLEMS) return;
      if (isObject(item)) visit(item, `${at}[${i}]`);
      else this.add(`${at}[${i}]`, "must be an object");
    }
  }

  object(holder: JsonObject, name: string, before: string, visit: (value: JsonObject, at: string) => void): void {
    const value = member(holder, name);
    if (value === undefined) return;
    const at = `${before}${spellingIn(holder, name)}`;
    if (isObject(value)) visit(value, at);
    else this.add(at, "must be an object");
  }

  text(holder: JsonObject, name: string, at: string, required = false): void {
    const value = member(holder, name);
    const fine = value === undefined ? !required : typeof value === "string";
    if (!fine) this.add(`${at}.${spellingIn(holder, name)}`, "must be a string");
  }

  wholeNumber(holder: JsonObject, name: string, at: string): void {
    const value: JsonValue | undefined = member(holder, name);
    if (value === undefined) return;
    // Google ignores 0, so budgets could not reserve anything.
    if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 1)
      this.add(`${at}.${spellingIn(holder, name)}`, "must be a whole number of at least 1");
  }

  content(content: JsonObject, at: string): void {
    this.text(content, "role", at);
    this.each(content, "parts", `${at}.`, (part, place) => this.part(part, place));
  }

  part(part: JsonObject, at: string): void {
    this.spelledOnce(part, PART, `${at}.`);
    this.text(part, "text", at);
    for (const name of ["functionCall", "toolCall"]) {
      this.object(part, name, `${at}.`, (call, place) => this.object(call, "args", `${place}.`, () => {}));
    }
    for (const name of ["functionResponse", "toolResponse"]) {
      this.object(part, name, `${at}.`, (result, place) => {
        this.object(result, "response", `${place}.`, () => {});
        this.each(result, "parts", `${place}.`, (nested, nestedAt) => this.part(nested, nestedAt));
      });
    }
    this.object(part, "inlineData", `${at}.`, (data, place) => {
      this.spelledOnce(data, ["mimeType"], `${place}.`);
      this.text(data, "data", place);
      this.text(data, "mimeType", place);
    });
    this.object(part, "executableCode", `${at}.`, (code, place) => this.text(code, "code", place));
    this.object(part, "codeExecutionResult", `${at}.`, (result, place) => this.text(result, "output", place));
  }
}
