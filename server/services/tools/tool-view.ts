import { EMPTY_VIEW } from "../../road/empty-view.ts";

import type { TextSlot } from "../../wire/inbound.ts";
import { fromHeaderValue, headerValue } from "../../wire/mcp/header-values.ts";
import { REFUSED } from "../../wire/mcp/rpc.ts";
import type { RequestView } from "../../road/view.ts";
import { answerTexts } from "./questions/client-answer-texts.ts";
import { addressSlot, type Forget, messageTexts } from "./request-texts.ts";
import type { ToolRequest } from "./tool-request.ts";

/** The error sent to a server whose question's answer was blocked by a guardrail. */
const WITHHELD = { code: REFUSED, message: "The answer was withheld: a guardrail blocked it." };

/**
 * The view of a request to a tool server: the texts of its params and of answers to the server's questions. All can be replaced in place
 * except names and addresses. `forget` removes text from the audit row.
 */
export function toolView(
  { target, subPath, message, body, envelope, capability, paramHeaders }: ToolRequest,
  forget: Forget = () => undefined,
): RequestView {
  const texts = (): readonly TextSlot[] => {
    const slots: TextSlot[] = [];
    if (message !== null) {
      messageTexts(message, slots, forget);
      answerTexts(message, slots);
    }
    // Below a server's endpoint, the path itself may carry content.
    if (subPath !== null) slots.push(addressSlot(subPath, () => forget("endpoint")));
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
    withhold: withholding(message),
  };
}

/** Replaces a blocked answer by an error, so that the server does not wait; a cancellation stays in force without its reason. */
function withholding(message: ToolRequest["message"]): (() => string) | null {
  if (message?.kind === "response")
    return () => {
      message.document.set("result", undefined);
      message.document.set("error", WITHHELD);
      return "answer_withheld";
    };
  if (message?.method !== "notifications/cancelled") return null;
  return () => {
    const { params } = message;
    for (const name of Object.keys(params)) if (name !== "requestId") delete params[name];
    message.document.touch("params");
    return "reason_withheld";
  };
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
