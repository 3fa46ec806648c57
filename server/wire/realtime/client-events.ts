import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { JsonDocument } from "../json/document.ts";
import { filledOf, objectOf } from "../openai/loose-fields.ts";
import { type EventProblem, problem } from "./event-problem.ts";
import { HELD_SETTINGS, OF_RESPONSE, PASSED_SETTINGS, settingsProblem } from "./session-settings.ts";

/** What a client asked for, once its event is known to be valid. */
export type ClientEvent =
  | { readonly kind: "update"; readonly session: JsonObject }
  | { readonly kind: "item"; readonly item: JsonObject; readonly after: string | null }
  | { readonly kind: "respond"; readonly response: JsonObject }
  | { readonly kind: "cancel" | "delete" | "truncate"; readonly event: JsonObject }
  /** `audio`: what is appended; null for a commit or a clearing. */
  | { readonly kind: "hear"; readonly event: JsonObject; readonly audio: string | null };

interface ReadEvent {
  /** The client's own ID of the event. */
  readonly eventId: string | null;
  readonly read: ClientEvent | EventProblem;
}

const ITEMS: ReadonlySet<unknown> = new Set(["message", "function_call", "function_call_output"]);
const PARTS: ReadonlySet<unknown> = new Set(["input_text", "output_text", "text", "input_image"]);
const AUDIO_INPUT = "Items with audio are not served. Append it to the input audio buffer, or send text.";
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const ID = /^[\w.:-]{1,64}$/;

/** Reads an event of a client. `text` is null for a binary message. */
export function readClientEvent(text: string | null): ReadEvent {
  if (text === null) return { eventId: null, read: problem("invalid_event", "An event is a text message with a JSON object.") };
  const document = JsonDocument.read(new TextEncoder().encode(text));
  if (!(document instanceof JsonDocument)) {
    const { field, message, ambiguous } = document;
    return {
      eventId: null,
      read: problem(ambiguous === true ? "ambiguous_name" : "invalid_event", `The event ${field} ${message}.`, field || null),
    };
  }
  const event = document.value;
  const eventId = filledOf(event.event_id)?.slice(0, 512) ?? null;
  const twice = document.repeatedName;
  if (twice !== null) return { eventId, read: problem("ambiguous_name", `The member ${twice} stands more than once.`, twice) };
  return { eventId, read: readEvent(event) };
}

function readEvent(event: JsonObject): ClientEvent | EventProblem {
  const type = filledOf(event.type);
  switch (type) {
    case null:
      return problem("invalid_event", "The event names no type.", "type");
    case "session.update":
      return readUpdate(objectOf(event.session));
    case "conversation.item.create":
      return readItem(event);
    case "response.create":
      return readResponse(event.response);
    case "response.cancel":
      return { kind: "cancel", event };
    case "conversation.item.delete":
      return isId(event.item_id) ? { kind: "delete", event } : problem("invalid_event", "item_id has to be the ID of an item.", "item_id");
    case "conversation.item.truncate":
      return isId(event.item_id)
        ? { kind: "truncate", event }
        : problem("invalid_event", "item_id has to be the ID of an item.", "item_id");
    case "input_audio_buffer.append": {
      const { audio } = event;
      if (typeof audio !== "string" || !BASE64.test(audio)) return problem("invalid_event", "audio has to be base64.", "audio");
      return { kind: "hear", event: { type, audio }, audio };
    }
    case "input_audio_buffer.commit":
    case "input_audio_buffer.clear":
      return { kind: "hear", event: { type }, audio: null };
    default:
      if (type === "conversation.item.retrieve")
        return problem("unsupported_event", "Items are not retrieved: their content would pass no control again.", "type");
      return problem("unknown_event", `The gateway knows no event of the type ${type.slice(0, 100)}.`, "type");
  }
}

function readUpdate(session: JsonObject | null): ClientEvent | EventProblem {
  if (session === null) return problem("invalid_event", "session has to be an object.", "session");
  if (session.type !== undefined && session.type !== "realtime")
    return problem("unsupported_parameter", "Only sessions of the type realtime are served.", "session.type");
  for (const name of Object.keys(session))
    if (name !== "model" && !PASSED_SETTINGS.has(name) && !(HELD_SETTINGS as readonly string[]).includes(name))
      return problem("unsupported_parameter", `The gateway knows no setting ${name.slice(0, 100)} of a session.`, `session.${name}`);
  return settingsProblem(session, "session") ?? { kind: "update", session };
}

function readResponse(given: JsonValue | undefined): ClientEvent | EventProblem {
  const response = given === undefined || given === null ? {} : objectOf(given);
  if (response === null) return problem("invalid_event", "response has to be an object.", "response");
  for (const name of Object.keys(response))
    if (!OF_RESPONSE.has(name))
      return problem("unsupported_parameter", `The gateway knows no setting ${name.slice(0, 100)} of a response.`, `response.${name}`);
  if (response.conversation !== undefined && response.conversation !== "auto" && response.conversation !== "none")
    return problem("invalid_event", "conversation has to be auto or none.", "response.conversation");
  const { input, audio } = response;
  if (isObject(audio) && audio.input !== undefined)
    return problem("unsupported_parameter", "Input audio is set for a session, not for a response.", "response.audio.input");
  if (input !== undefined && !Array.isArray(input)) return problem("invalid_event", "input has to be an array of items.", "response.input");
  for (const [at, item] of (input ?? []).entries()) {
    const wrong = itemProblem(item, `response.input[${at}]`, true);
    if (wrong !== null) return wrong;
  }
  return settingsProblem(response, "response") ?? { kind: "respond", response };
}

function readItem(event: JsonObject): ClientEvent | EventProblem {
  const wrong = itemProblem(event.item, "item", false);
  if (wrong !== null) return wrong;
  const after = event.previous_item_id ?? null;
  if (after !== null && !isId(after)) return problem("invalid_event", "previous_item_id has to be the ID of an item.", "previous_item_id");
  return { kind: "item", item: event.item as JsonObject, after };
}

function itemProblem(item: JsonValue | undefined, at: string, mayRefer: boolean): EventProblem | null {
  if (!isObject(item)) return problem("invalid_event", `${at} has to be an object.`, at);
  if (item.id !== undefined && !isId(item.id))
    return problem("invalid_event", "The ID of an item has 1 to 64 plain characters.", `${at}.id`);
  if (mayRefer && item.type === "item_reference") return null;
  if (!ITEMS.has(item.type)) return problem("unsupported_parameter", `Items are of the types ${[...ITEMS].join(", ")}.`, `${at}.type`);
  if (item.type !== "message") return null;
  if (item.role !== "user" && item.role !== "assistant" && item.role !== "system")
    return problem("invalid_event", "The role of a message is user, assistant or system.", `${at}.role`);
  if (!Array.isArray(item.content)) return problem("invalid_event", "content has to be an array of parts.", `${at}.content`);
  for (const [index, part] of item.content.entries()) {
    const type = isObject(part) ? part.type : undefined;
    if (type === "input_audio") return problem("unsupported_parameter", AUDIO_INPUT, `${at}.content[${index}]`);
    if (!PARTS.has(type))
      return problem("unsupported_parameter", `Parts are of the types ${[...PARTS].join(", ")}.`, `${at}.content[${index}].type`);
  }
  return null;
}

const isId = (id: unknown): id is string => typeof id === "string" && ID.test(id);
