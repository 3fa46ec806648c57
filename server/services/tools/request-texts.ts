import { exactReading } from "../../kernel/text/exact-numbers.ts";
import { ownEntry } from "../../kernel/collections/own-entry.ts";
import { decodedAddress } from "../../wire/decoded-address.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { TextSlot } from "../../wire/inbound.ts";
import { META } from "../../wire/mcp/dialect.ts";
import { MEMBER_NAME } from "../../wire/mcp/message-members.ts";
import type { RpcMessage } from "../../wire/mcp/rpc.ts";
import { hasWords } from "../../wire/texts/other-texts.ts";
import { collectSlots, exactAt, memberNameSlot } from "./argument-slots.ts";
import { type ParamMembers, OF_EVERY_REQUEST, OWN_PARAMS, type ParamReading } from "./own-params.ts";

/** Inspected separately, as answers. */
const ANSWERS = "inputResponses";
/** Members of `_meta` that the protocol defines. */
const META_HANDLES: ReadonlySet<string> = new Set([
  META.version,
  META.logLevel,
  META.subscription,
  "progressToken",
  "traceparent",
  "tracestate",
]);
export const isProtocolMember = (name: string): boolean => MEMBER_NAME.test(name);
/** Members of the JSON-RPC envelope and those that are inspected separately: of a request or notification, and of a response. */
const OF_REQUEST: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params"]);
const OF_RESPONSE: ReadonlySet<string> = new Set(["jsonrpc", "id", "result", "error"]);

type Holder = Record<string, JsonValue | undefined> | JsonValue[];
type Changed = () => void;

/** Columns of the audit row that repeat text from the request. */
type RecordedField = "mcp_method" | "mcp_request_id" | "mcp_capability_name" | "endpoint";
/** Removes that text from the row. */
export type Forget = (field: RecordedField) => void;

interface ParamSlots {
  readonly slots: TextSlot[];
  readonly changed: Changed;
  readonly forget: () => void;
}

/** Collects every text of a message, in whichever member, except answers. */
export function messageTexts({ kind, id, method, params, document }: RpcMessage, slots: TextSlot[], forget: Forget): void {
  const { value } = document;
  const frame = kind === "response" ? OF_RESPONSE : OF_REQUEST;
  for (const name of Object.keys(value)) {
    if (frame.has(name)) continue;
    collectSlots(value, name, slots, () => document.touch(name), exactReading(document.memberText(name) ?? ""));
    slots.push(fixedSlot("fixed_name", name));
  }
  if (typeof id === "string" && hasWords(id)) slots.push(fixedSlot("fixed_text", id, () => forget("mcp_request_id")));
  // Only a response may have an ID that is none.
  else if (id === null) collectSlots(value, "id", slots, () => document.touch("id"), exactReading(document.memberText("id") ?? ""));
  if (method === null) return;
  if (!Object.hasOwn(OWN_PARAMS, method)) slots.push(fixedSlot("fixed_name", method, () => forget("mcp_method")));
  const paramSlots: ParamSlots = { slots, changed: () => document.touch("params"), forget: () => forget("mcp_capability_name") };
  paramTexts(method, params, paramSlots, exactReading(document.memberText("params") ?? ""));
}

function paramTexts(method: string, params: JsonObject, into: ParamSlots, exact: unknown): void {
  const { slots, changed } = into;
  const own = { ...OF_EVERY_REQUEST, ...ownEntry(OWN_PARAMS, method) };
  for (const key of Object.keys(params)) {
    if (key === ANSWERS) continue;
    const known = ownEntry(own, key);
    const value = params[key];
    if (typeof known === "string") read(known, params, key, into, exactAt(exact, key));
    else if (known !== undefined && isObject(value)) members(known, value, into, exactAt(exact, key));
    else {
      collectSlots(params, key, slots, changed, exactAt(exact, key));
      if (known === undefined && key !== "arguments") slots.push(memberNameSlot(params, key, changed));
    }
  }
}

function members(known: ParamMembers, holder: JsonObject, into: ParamSlots, exact: unknown): void {
  const { slots, changed } = into;
  for (const name of Object.keys(holder)) {
    const reading = ownEntry(known, name);
    if (reading !== undefined) read(reading, holder, name, into, exactAt(exact, name));
    else {
      collectSlots(holder, name, slots, changed, exactAt(exact, name));
      slots.push(memberNameSlot(holder, name, changed));
    }
  }
}

function read(reading: ParamReading, holder: Holder, key: string | number, into: ParamSlots, exact: unknown): void {
  const { slots, changed, forget } = into;
  const value = (holder as Record<string | number, JsonValue | undefined>)[key];
  if (reading === "aside") return metaTexts(holder, key, slots, changed, exact);
  if (Array.isArray(value) && reading !== "text") value.forEach((_, at) => read(reading, value, at, into, exactAt(exact, at)));
  else if (reading === "text" || isObject(value)) collectSlots(holder, key, slots, changed, exact);
  else if (typeof value === "string" && (reading !== "handle" || hasWords(value)))
    slots.push(
      reading === "address" ? addressSlot(value, forget) : fixedSlot(reading === "name" ? "fixed_name" : "fixed_text", value, forget),
    );
}

/** Collects the texts of a program's self-description or of `_meta`, including names that no protocol would define. */
export function metaTexts(holder: Holder, key: string | number, slots: TextSlot[], changed: Changed, exact: unknown): void {
  const value = (holder as Record<string | number, JsonValue | undefined>)[key];
  if (Array.isArray(value)) value.forEach((_, at) => metaTexts(value, at, slots, changed, exactAt(exact, at)));
  else if (isObject(value))
    for (const name of Object.keys(value)) {
      const member = value[name];
      if (META_HANDLES.has(name) && typeof member === "string" && !hasWords(member)) continue;
      metaTexts(value, name, slots, changed, exactAt(exact, name));
      if (!isProtocolMember(name)) slots.push(asAside(memberNameSlot(value, name, changed)));
    }
  else if (!(typeof key === "string" && META_HANDLES.has(key) && typeof value === "number")) {
    const found: TextSlot[] = [];
    collectSlots(holder, key, found, changed, exact);
    for (const slot of found) slots.push(asAside(slot));
  }
}

function asAside(slot: TextSlot): TextSlot {
  return {
    role: slot.role,
    kind: slot.kind,
    rulesOnly: true,
    get text() {
      return slot.text;
    },
    replace: (text) => slot.replace(text),
  };
}

/** The address in the decoded form that its server will see. */
export function addressSlot(address: string, forget: () => void): TextSlot {
  return fixedSlot("fixed_text", decodedAddress(address), forget);
}

/** A text that cannot be changed: the request is refused if it would have to be. */
export function fixedSlot(kind: "fixed_text" | "fixed_name", text: string, forget: () => void = () => undefined): TextSlot {
  return { role: "tool", kind, text, rulesOnly: true, replace: () => undefined, forget };
}
