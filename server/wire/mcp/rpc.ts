import { exactReading, exactValue, rawJson } from "../../kernel/text/exact-numbers.ts";
import { isObject, type JsonObject, objectInJson } from "../../kernel/json-value.ts";
import { JsonDocument } from "../json/document.ts";
import { editMembers, jsonMembersOf } from "../json/json-members.ts";
import { isNestedDeeper } from "../json/nesting.ts";
import { repeatedName } from "../json/repeated-name.ts";

export type RpcId = string | number | LongId;

/** An integer ID beyond the safe range, whose digits must be returned unchanged. */
export class LongId {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }

  toJSON(): unknown {
    return rawJson(this.text);
  }
}

/** The ID parsed as `value` from `text`; null if it is not a valid ID. */
export function idIn(text: string | null, value: unknown): RpcId | null {
  if (typeof value === "string") return value;
  if (typeof value !== "number") return null;
  return text !== null && Number.isInteger(value) && !Number.isSafeInteger(value) ? new LongId(text) : value;
}

/** A JSON-RPC message with its source text; what governance did not change keeps its spelling. */
export interface RpcMessage {
  readonly kind: "request" | "notification" | "response";
  readonly id: RpcId | null;
  /** Null for a response. */
  readonly method: string | null;
  readonly params: JsonObject;
  readonly document: JsonDocument;
}

/** Far deeper than real messages, and far below where recursion overflows the stack. */
const MAX_LEVELS = 1_000;

/** The error code of the gateway's refusals, distinct from the protocol's own codes. */
export const REFUSED = 4031;

/** Why bytes are not a valid message, with the protocol's error code. */
export interface RpcProblem {
  readonly code: -32700 | -32600;
  readonly message: string;
  readonly id: RpcId | null;
  /** Set if the message contains an ambiguous name. */
  readonly ambiguous?: true;
}

/**
 * Reads one message. A duplicate name anywhere is refused, because the tool server could use the other value than the one
 * checked; so is excessive nesting.
 */
export function readRpc(bytes: Uint8Array): RpcMessage | RpcProblem {
  const document = JsonDocument.read(bytes, Number.POSITIVE_INFINITY);
  if (!(document instanceof JsonDocument))
    return {
      code: document.message === "is not JSON" || document.message === "is not UTF-8" ? -32700 : -32600,
      message: document.ambiguous
        ? document.message
        : `The body ${document.field === "" ? "" : `member ${document.field} `}${document.message}.`,
      id: null,
      ...(document.ambiguous && { ambiguous: true }),
    };
  const { value } = document;
  const id = typeof value.id === "number" && !Number.isInteger(value.id) ? null : idIn(document.memberText("id"), value.id);
  const invalid = (message: string): RpcProblem => ({ code: -32600, message, id });
  if (value.jsonrpc !== "2.0") return invalid('`jsonrpc` must be "2.0".');
  if (isNestedDeeper(document.text(), MAX_LEVELS)) return invalid(`The body is nested more than ${MAX_LEVELS} levels deep.`);
  const twice = repeatedName(document.text(), value);
  if (twice !== null) return invalid(`The name ${JSON.stringify(twice)} stands twice in one object.`);
  if (value.method === undefined && (value.result !== undefined || value.error !== undefined))
    return { kind: "response", id, method: null, params: {}, document };
  if (typeof value.method !== "string") return invalid("`method` must be a text.");
  if (value.params !== undefined && !isObject(value.params)) return invalid("`params` must be an object.");
  if (value.id !== undefined && id === null) return invalid("`id` must be a text or a whole number.");
  return {
    kind: id === null ? "notification" : "request",
    id,
    method: value.method,
    params: (value.params as JsonObject | undefined) ?? {},
    document,
  };
}

export function isRpcProblem(read: RpcMessage | RpcProblem): read is RpcProblem {
  return "code" in read;
}

/** Leniently reads a message of an upstream; null if it is not a JSON object. */
export function readUpstreamRpc(text: string): JsonObject | null {
  return objectInJson(text);
}

/** The messages in one text of an upstream: servers of revision 2025-03-26 may send a batch. */
export function messagesIn(text: string): string[] {
  if (!/^\s*\[/.test(text)) return [text];
  try {
    const list = exactValue(text);
    return Array.isArray(list) ? list.map((message) => JSON.stringify(message)) : [text];
  } catch {
    return [text];
  }
}

/** A message to be modified and serialized again, with all digits of its numbers; `value` was parsed from `text`. */
export function exactMessage(text: string, value: JsonObject): JsonObject {
  return (exactReading(text) as JsonObject | undefined) ?? value;
}

/** Whether an upstream's message is the answer to the request with this ID. */
export function answers(message: JsonObject, id: RpcId | null): boolean {
  return (
    message.method === undefined &&
    (message.id === (id instanceof LongId ? Number(id.text) : id) || (message.id === null && message.error !== undefined)) &&
    (message.result !== undefined || errorMember(message) !== null)
  );
}

/** The error of an upstream's message; null if there is none. Some servers send just a string. */
export function errorMember({ error, result }: JsonObject): JsonObject | null {
  if (isObject(error)) return error;
  if (error == null || result !== undefined) return null;
  return { code: -32603, message: typeof error === "string" ? error : "The tool server failed." };
}

export function requestText(id: RpcId | null, method: string, params: string | null): string {
  const idPart = id === null ? "" : `"id":${JSON.stringify(id)},`;
  return `{"jsonrpc":"2.0",${idPart}"method":${JSON.stringify(method)}${params === null ? "" : `,"params":${params}`}}`;
}

export function resultText(id: RpcId | null, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

export function errorText(id: RpcId | null, error: { readonly code: number; readonly message: string; readonly data?: unknown }): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":${JSON.stringify(error)}}`;
}

/** The source text of one member of a JSON object; null if absent. */
export function memberText(object: string, name: string): string | null {
  const member = jsonMembersOf(object).find((candidate) => candidate.name === name);
  return member === undefined ? null : object.slice(member.valueStart, member.valueEnd);
}

/** The object with some members replaced by JSON text and the rest unchanged; null removes a member. */
export function edited(object: string, edits: Readonly<Record<string, string | null>>): string {
  return editMembers(object, jsonMembersOf(object), new Map(Object.entries(edits)));
}
