import { exactReading } from "../../kernel/text/exact-numbers.ts";
import { ownEntry } from "../../kernel/collections/own-entry.ts";
import { EMPTY_VIEW } from "../../road/empty-view.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { TextSlot } from "../../wire/inbound.ts";
import { fromHeaderValue, headerValue } from "../../wire/mcp/header-values.ts";
import { REFUSED } from "../../wire/mcp/rpc.ts";
import type { RequestView } from "../../road/view.ts";
import { collectSlots, exactAt, memberNameSlot } from "./argument-slots.ts";
import type { ToolRequest } from "./tool-request.ts";

/** The error for a server that waits for an answer which a guardrail blocked. */
const WITHHELD = { code: REFUSED, message: "The answer was withheld: a guardrail blocked it." };

/**
 * The view of what is sent to a tool server: its texts are those of the arguments, and those of the answers to what the
 * server asked of its caller, each replaceable in place.
 */
export function toolView({ target, message, body, envelope, capability, paramHeaders }: ToolRequest): RequestView {
  const changed = () => message?.document.touch("params");
  const exactly = (member: string) => exactReading(message?.document.memberText(member) ?? "");
  const texts = (): readonly TextSlot[] => {
    const slots: TextSlot[] = [];
    if (message?.kind === "response") {
      const { result, error } = message.document.value;
      collectAnswer(result, slots, () => message.document.touch("result"), exactly("result"));
      const exact = exactly("error");
      for (const key of isObject(error) ? ["message", "data"] : [])
        collectSlots(error as JsonObject, key, slots, () => message.document.touch("error"), exactAt(exact, key));
    }
    const exact = exactly("params");
    const responses = message?.params.inputResponses;
    if (isObject(responses))
      for (const name of Object.keys(responses))
        collectAnswer(responses[name], slots, changed, exactAt(exactAt(exact, "inputResponses"), name));
    const method = message?.method ?? null;
    if (message !== null && method !== null && !method.startsWith("notifications/")) {
      const look = (holder: JsonObject, key: string, within: unknown) => {
        collectSlots(holder, key, slots, changed, exactAt(within, key));
        if (!CALLED_SO.has(key)) slots.push(memberNameSlot(holder, key, changed));
      };
      const own = ownEntry(OWN_PARAMS, method) ?? NONE;
      for (const key of Object.keys(message.params)) if (!own.includes(key) && !OF_EVERY_REQUEST.has(key)) look(message.params, key, exact);
      for (const [param, known] of Object.entries({ ...OF_EVERY_OBJECT, ...ownEntry(OWN_MEMBERS, method) })) {
        const holder = message.params[param];
        if (!isObject(holder)) collectSlots(message.params, param, slots, changed, exactAt(exact, param));
        else for (const key of Object.keys(holder)) if (!known.includes(key)) look(holder, key, exactAt(exact, param));
      }
    }
    for (const name in paramHeaders) slots.push(paramHeaderSlot(paramHeaders, name));
    return slots;
  };
  return {
    ...EMPTY_VIEW,
    target: {
      kind: "tool",
      server: target.kind === "server" ? "single" : "virtual",
      serverId: target.id,
      dialect: envelope === null ? "handshake" : "stateless",
      method: message?.method ?? null,
      listens: message?.method == null || message.method === "subscriptions/listen",
      capability,
      arguments: message?.params.arguments,
      address: typeof message?.params.uri === "string" ? message.params.uri : null,
    },
    texts,
    // Below a server's own path what it likes may be sent to it, in a form that is not ours to know.
    opaque: message === null && body !== null && body.byteLength > 0,
    names: { ...EMPTY_VIEW.names, input: "body" },
    content: () => message?.document.text() ?? "",
    get inputCharacters() {
      return texts().reduce((sum, { text }) => sum + text.length, 0);
    },
    withhold:
      message?.kind !== "response"
        ? null
        : () => {
            message.document.set("result", undefined);
            message.document.set("error", WITHHELD);
          },
  };
}

/** What mirrors an argument is redacted as the argument is, so that the two agree. */
function paramHeaderSlot(headers: Record<string, string>, name: string): TextSlot {
  return {
    role: "tool",
    kind: "text",
    get text() {
      const value = headers[name] ?? "";
      return fromHeaderValue(value) ?? value;
    },
    replace: (text) => void (headers[name] = headerValue(text)),
  };
}

/** Names and values of the protocol itself in what a caller answers: they say nothing, and none of them may be another. */
const OWN_WORDS = new Set([
  "action",
  "accept",
  "decline",
  "cancel",
  "role",
  "user",
  "assistant",
  "model",
  "stopReason",
  "endTurn",
  "maxTokens",
  "stopSequence",
  "toolUse",
  "content",
  "type",
  "text",
  "image",
  "audio",
  "data",
  "mimeType",
  "tool_use",
  "tool_result",
  "id",
  "name",
  "input",
  "toolUseId",
  "isError",
  "structuredContent",
]);

/** What of a request is the protocol's own, whatever it asks: all else reaches the server as well. */
const OF_EVERY_REQUEST: ReadonlySet<string> = new Set(["_meta", "task", "requestState", "inputResponses"]);
const NONE: readonly string[] = [];
/** The same of what the protocol asks. Of a method that it does not have nothing is known. */
const OWN_PARAMS: Readonly<Record<string, readonly string[]>> = {
  initialize: ["protocolVersion", "capabilities", "clientInfo"],
  "tools/list": ["cursor"],
  "tools/call": ["name"],
  "prompts/list": ["cursor"],
  "prompts/get": ["name"],
  "resources/list": ["cursor"],
  "resources/templates/list": ["cursor"],
  "resources/read": ["uri"],
  "resources/subscribe": ["uri"],
  "resources/unsubscribe": ["uri"],
  "resources/directory/read": ["uri", "cursor"],
  "skills/get": ["uri"],
  "completion/complete": ["ref", "argument", "context"],
  "logging/setLevel": ["level"],
  "subscriptions/listen": ["notifications", "resourceSubscriptions"],
  "tasks/list": ["cursor"],
  "tasks/get": ["taskId"],
  "tasks/result": ["taskId"],
  "tasks/update": ["taskId"],
  "tasks/cancel": ["taskId"],
};

/** What the protocol calls that which it leaves to whoever asks. */
const CALLED_SO: ReadonlySet<string> = new Set(["arguments", "value"]);
/** What of these params, which are objects, is the protocol's own in its turn. */
const OF_EVERY_OBJECT: Readonly<Record<string, readonly string[]>> = { task: ["ttl"] };
const OWN_MEMBERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  initialize: { clientInfo: ["name", "title", "version", "description", "websiteUrl", "icons"] },
  "completion/complete": { ref: ["type", "name", "title", "uri"], argument: ["name"], context: NONE },
  "subscriptions/listen": {
    notifications: ["toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions", "taskIds"],
  },
};

/**
 * What a person filled in, or what a model said, for a server that asked for it: all but the bytes of pictures and sound, and lists of
 * roots.
 */
function collectAnswer(answer: JsonValue | undefined, slots: TextSlot[], changed: () => void, exact: unknown): void {
  if (!isObject(answer)) return;
  for (const name of Object.keys(answer))
    if (name !== "_meta" && name !== "roots") collectSaid(answer, name, slots, changed, exactAt(exact, name));
}

function collectSaid(
  holder: Record<string, JsonValue | undefined> | JsonValue[],
  key: string | number,
  slots: TextSlot[],
  changed: () => void,
  exact: unknown,
): void {
  const value = (holder as Record<string | number, JsonValue | undefined>)[key];
  if (Array.isArray(value)) value.forEach((_, index) => collectSaid(value, index, slots, changed, exactAt(exact, index)));
  else if (isObject(value)) {
    const isBytes = value.type === "image" || value.type === "audio";
    for (const name of Object.keys(value)) {
      if (!(isBytes && name === "data")) collectSaid(value, name, slots, changed, exactAt(exact, name));
      if (!OWN_WORDS.has(name)) slots.push(memberNameSlot(value, name, changed));
    }
  } else if (typeof value !== "string" || !OWN_WORDS.has(value)) collectSlots(holder, key, slots, changed, exact);
}
