import { OwnPictures } from "../conversation/own-pictures.ts";
import type { Turn } from "../conversation/request.ts";
import type {
  AssistantPart,
  FilePart,
  ImagePart,
  Signature,
  TextPart,
  ToolResultPart,
  UserPart,
} from "../conversation/conversation-parts.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { newGeminiCallId } from "./call-ids.ts";
import { spellingIn } from "./member-names.ts";
import type { GeminiReadReport } from "./read-report.ts";
import { readMedia } from "./media.ts";
import { listIn, member, objectIn, objectsIn, textIn } from "./members.ts";
import { dropPartMembers } from "./part-members.ts";
import { PendingToolCalls } from "./pending-tool-calls.ts";
import { readResponse } from "./tool-results.ts";

const ASSISTANT = new Set(["text", "thought", "thoughtSignature", "functionCall"]);
const USER = new Set(["text", "inlineData", "fileData", "functionResponse", "thoughtSignature"]);
const SERVER_SIDE = ["executableCode", "codeExecutionResult", "toolCall", "toolResponse"];

/** Reads `contents` into turns. Calls without IDs get one derived from their position; results are matched by ID, or by name and order. */
export class ContentReader {
  private readonly findings: GeminiReadReport;
  private readonly pictures = new OwnPictures();
  private openCalls = new PendingToolCalls();
  private afterUser = false;

  constructor(findings: GeminiReadReport) {
    this.findings = findings;
  }

  turns(body: JsonObject): Turn[] {
    const list = Array.isArray(member(body, "contents"));
    const turns: Turn[] = [];
    let before: string | null = null;
    for (const [turn, content] of objectsIn(body, "contents").entries()) {
      const at = list ? `contents[${turn}]` : "contents";
      const parts = objectsIn(content, "parts").map((part, i): [JsonObject, string] => [part, `${at}.parts[${i}]`]);
      const role = textIn(content, "role");
      const read = this.turn(role, parts, turn);
      if (role !== "model" || before !== "model" || !continuesTurn(turns, read)) turns.push(...read);
      before = role;
    }
    for (const field of this.pictures.left) this.findings.drop(field);
    return turns;
  }

  private turn(role: string | null, parts: readonly (readonly [JsonObject, string])[], turn: number): Turn[] {
    if (role === "system") {
      const texts = parts.flatMap(([part]) => textOf(part));
      return texts.length === 0 ? [] : [{ role, parts: texts }];
    }
    if (role !== "model") {
      this.afterUser = true;
      const read = parts.flatMap(([part, at], i) => this.userPart(part, at, turn, i));
      if (read.length === 0) return [];
      return [{ role: "user", parts: read.every(({ kind }) => kind === "tool_result") ? read : this.pictures.before(read) }];
    }
    // Later results cannot answer calls of an earlier exchange.
    if (this.afterUser) this.openCalls = new PendingToolCalls();
    this.afterUser = false;
    const read = parts.flatMap(([part, at], i) => this.assistantPart(part, at, turn, i));
    return read.length === 0 ? [] : [{ role: "assistant", parts: read }];
  }

  private userPart(part: JsonObject, at: string, turn: number, place: number): UserPart[] {
    if (this.refused(part, at, ["functionCall"])) return [];
    this.findings.dropOthers(part, USER, `${at}.`);
    dropPartMembers(part, at, this.findings);
    const result = objectIn(part, "functionResponse");
    if (result !== null) return [this.result(result, `${at}.${spellingIn(part, "functionResponse")}`, turn, place)];
    const media = this.media(part, at);
    return media === null ? textOf(part) : [media];
  }

  private assistantPart(part: JsonObject, at: string, turn: number, place: number): AssistantPart[] {
    const picture = readMedia(part);
    if (picture !== null && picture !== "private" && picture.kind === "image") {
      // A draft image among the thoughts was not part of the answer.
      if (member(part, "thought") !== true) this.pictures.add(picture, at);
      return [];
    }
    if (this.refused(part, at, ["functionResponse", "inlineData", "fileData"])) return [];
    this.findings.dropOthers(part, ASSISTANT, `${at}.`);
    dropPartMembers(part, at, this.findings);
    const signature = signatureOf(part);
    const call = objectIn(part, "functionCall");
    const name = call === null ? null : textIn(call, "name");
    if (call !== null && name !== null) {
      const id = textIn(call, "id") || newGeminiCallId(turn, place, name);
      this.openCalls.add(id, name);
      return [{ kind: "tool_call", id, name, arguments: JSON.stringify(objectIn(call, "args") ?? {}), ...signature }];
    }
    if (member(part, "thought") !== true) return textOf(part);
    const text = textIn(part, "text") ?? "";
    return text === "" && signature.signature === undefined ? [] : [{ kind: "reasoning", text, redacted: false, ...signature }];
  }

  private refused(part: JsonObject, at: string, names: readonly string[]): boolean {
    const name = [...SERVER_SIDE, ...names].find((each) => member(part, each) !== undefined);
    if (name === undefined) return false;
    this.findings.refuse(`${at}.${spellingIn(part, name)}`, "cannot be said to the provider of this model");
    return true;
  }

  private media(part: JsonObject, at: string): Exclude<UserPart, TextPart | ToolResultPart> | null {
    const media = readMedia(part);
    if (media !== "private") return media;
    this.findings.refuse(`${at}.${spellingIn(part, "fileData")}`, "names a file that only Google can fetch: send it inline");
    return null;
  }

  private result(result: JsonObject, at: string, turn: number, place: number): ToolResultPart {
    const name = textIn(result, "name");
    const responseId = textIn(result, "id") || null;
    const { text, isError } = readResponse(objectIn(result, "response") ?? {});
    const media: (ImagePart | FilePart)[] = [];
    for (const [i, part] of listIn(result, "parts").entries()) {
      const nested = isObject(part) ? this.media(part, `${at}.parts[${i}]`) : null;
      if (nested?.kind === "audio")
        this.findings.refuse(`${at}.parts[${i}]`, "sounds cannot be a tool's result for the provider of this model");
      else if (nested !== null) media.push(nested);
    }
    const callId = this.openCalls.answer(responseId, name) ?? responseId ?? newGeminiCallId(turn, place, name ?? "");
    return { kind: "tool_result", callId, toolName: name, content: [{ kind: "text", text }, ...media], isError };
  }
}

/**
 * Merges a model's turn into the previous one. Google's clients store each piece of a streamed answer as a turn, which
 * Google reads as one; other vendors need all calls of an answer together, before their results.
 */
function continuesTurn(turns: Turn[], [next]: readonly Turn[]): boolean {
  const last = turns.at(-1);
  if (last?.role !== "assistant" || next?.role !== "assistant") return false;
  const [first, ...others] = next.parts;
  const joined = pieceJoined(last.parts.at(-1), first);
  const parts = joined === null ? [...last.parts, ...next.parts] : [...last.parts.slice(0, -1), joined, ...others];
  turns[turns.length - 1] = { role: "assistant", parts };
  return true;
}

/** Joins two pieces of one text; null if they are separate. A signature ends a piece. */
function pieceJoined(last: AssistantPart | undefined, next: AssistantPart | undefined): AssistantPart | null {
  if (last?.kind === "text" && next?.kind === "text" && last.signature === undefined) return { ...next, text: last.text + next.text };
  if (last?.kind === "reasoning" && next?.kind === "reasoning" && last.signature === undefined)
    return { ...next, text: last.text + next.text };
  return null;
}

/** A text part; empty if the text is empty, unless it carries a signature. */
function textOf(part: JsonObject): TextPart[] {
  const text = textIn(part, "text") ?? "";
  const signature = signatureOf(part);
  return text === "" && signature.signature === undefined ? [] : [{ kind: "text", text, ...signature }];
}

function signatureOf(part: JsonObject): { signature?: Signature } {
  const value = textIn(part, "thoughtSignature");
  return value === null || value === "" ? {} : { signature: { family: "gemini", value } };
}
