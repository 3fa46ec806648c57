import { EMPTY_VIEW } from "../../road/empty-view.ts";

import type { TextSlot } from "../../wire/inbound.ts";
import { fromHeaderValue, headerValue } from "../../wire/mcp/header-values.ts";
import { REFUSED } from "../../wire/mcp/rpc.ts";
import type { RequestView } from "../../road/view.ts";
import { answerTexts } from "./questions/client-answer-texts.ts";
import { addressSlot, type Forget, messageTexts } from "./request-texts.ts";
import type { ToolRequest } from "./tool-request.ts";

/** The error for a server that waits for an answer which a guardrail blocked. */
const WITHHELD = { code: REFUSED, message: "The answer was withheld: a guardrail blocked it." };

/**
 * The view of what is sent to a tool server: its texts are those of its params, and those of the answers to what the server asked of
 * its caller, each replaceable in place but for what something is called by and where it is. `forget`: what the row says of it.
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
    // What a server is sent below its own path may stand in the path alone.
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
    // Below a server's own path what it likes may be sent to it, in a form that is not ours to know.
    opaque: message === null && body !== null && body.byteLength > 0,
    names: { ...EMPTY_VIEW.names, input: "body" },
    content: () => message?.document.text() ?? "",
    get inputCharacters() {
      return texts().reduce((sum, { text, rulesOnly }) => sum + (rulesOnly === true ? 0 : text.length), 0);
    },
    withhold: withholding(message),
  };
}

/** Whoever waits for an answer is told that there is none, and what is cancelled is cancelled whatever the reason. */
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
