import { EMPTY_VIEW } from "../../road/request/empty-view.ts";
import type { JsonValue } from "../../kernel/json-value.ts";
import type { TextSlot } from "../../wire/inbound.ts";
import { fromHeaderValue, headerValue } from "../../wire/mcp/header-values.ts";
import { REFUSED } from "../../wire/mcp/rpc.ts";
import { hasWords } from "../../wire/texts/other-texts.ts";
import type { RequestView } from "../../road/view.ts";
import { answerTexts } from "./questions/client-answer-texts.ts";
import { addressSlot, fixedSlot, type Forget, messageTexts } from "./request-texts.ts";
import type { ToolRequest } from "./tool-request.ts";

/** The error sent to a server whose question's answer was blocked by a guardrail. */
const WITHHELD = { code: REFUSED, message: "The answer was withheld: a guardrail blocked it." };

/**
 * The view of a request to a tool server: the texts of its params and of answers to the server's questions. All can be replaced in place
 * except names, addresses and handles. `forget` removes text from the audit row. `handles`: headers that the server gets unchanged.
 */
export function toolView(
  { target, subPath, message, body, envelope, capability, paramHeaders }: ToolRequest,
  forget: Forget = () => undefined,
  handles: () => readonly (string | null)[] = () => [],
): RequestView {
  let blockedOutside = false;
  const texts = (): readonly TextSlot[] => {
    const slots: TextSlot[] = [];
    // What is sent besides the message is inspected first, because it would still be sent if the message were withheld. Below a server's
    // endpoint, the path itself may carry content.
    const outside = (noteOutside?: "endpoint") => () => {
      blockedOutside = true;
      if (noteOutside !== undefined) forget(noteOutside);
    };
    if (subPath !== null) slots.push(addressSlot(subPath, outside("endpoint")));
    for (const handle of handles()) if (handle !== null && hasWords(handle)) slots.push(fixedSlot("fixed_text", handle, outside()));
    if (message !== null) {
      messageTexts(message, slots, forget);
      answerTexts(message, slots);
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
    // Below a server's endpoint, bodies may have any format, which the gateway cannot read.
    opaque: message === null && body !== null && body.byteLength > 0,
    names: { ...EMPTY_VIEW.names, input: "body" },
    content: () => message?.document.text() ?? "",
    get inputCharacters() {
      return texts().reduce((sum, { text, rulesOnly }) => sum + (rulesOnly === true ? 0 : text.length), 0);
    },
    get withhold() {
      return blockedOutside ? null : withholding(message, paramHeaders);
    },
  };
}

/**
 * Replaces a blocked answer by an error, so that the server does not wait; a cancellation stays in force without its reason. Nothing else of
 * the message is sent, because inspection ended at the first text that was blocked. Null if that is not possible.
 */
function withholding(message: ToolRequest["message"], paramHeaders: ToolRequest["paramHeaders"]): (() => string) | null {
  if (message === null) return null;
  const { kind, method, params, document } = message;
  if (kind === "response" && isHandle(document.value.id))
    return () => {
      sendOnly(["jsonrpc", "id"]);
      document.set("error", WITHHELD);
      return "answer_withheld";
    };
  if (kind === "notification" && method === "notifications/cancelled" && isHandle(params.requestId))
    return () => {
      sendOnly(["jsonrpc", "method", "params"]);
      for (const name of Object.keys(params)) if (name !== "requestId") delete params[name];
      document.touch("params");
      return "reason_withheld";
    };
  return null;

  function sendOnly(names: readonly string[]): void {
    for (const name of Object.keys(document.value)) if (!names.includes(name)) document.set(name, undefined);
    for (const name of Object.keys(paramHeaders)) delete paramHeaders[name];
  }
}

/** Whether an ID contains no content, so that it may stay in a message that is withheld. */
function isHandle(id: JsonValue | undefined): boolean {
  return id == null || typeof id === "number" || (typeof id === "string" && !hasWords(id));
}

/** A header that mirrors an argument is redacted like the argument, so that both still agree. */
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
