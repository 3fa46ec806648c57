import { refuse } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { GovernedRoute } from "../../road/road-parts.ts";
import type { Surface } from "../../road/surface.ts";
import { InboundView } from "../../road/view.ts";
import type { Dispatch } from "../../services/models/dispatch.ts";
import { BodyChecks } from "../../wire/openai/body-checks.ts";
import { CHARACTERS_PER_TOKEN } from "../../wire/usage.ts";
import { JsonDocument } from "../../wire/json/document.ts";
import { realtimeAnswerTexts } from "../../wire/realtime/realtime-answer-texts.ts";
import { ResponsesRequest } from "../../wire/responses/responses-request.ts";
import { errorEvent } from "./realtime-refusals.ts";

export interface ResponseTerms {
  readonly models: Dispatch;
  /** The client's ID of the event that asks for the response. */
  readonly clientId: string | null;
  /** Length of the conversation that the provider keeps, in characters. */
  readonly earlierCharacters: number;
  /** The most tokens of the caller's audio that no response has answered yet. */
  readonly heardTokens: number;
  /** Whether nothing inspects what the caller says. */
  readonly mayHear: (call: Call) => boolean;
  /** ID of the response that is being sent; null before the provider created it. */
  readonly responseId: () => string | null;
  readonly ask: (body: string) => ReadableStream<Uint8Array> | null;
}

const INSPECTED = "What the caller said aloud cannot be inspected, and a guardrail or semantic policy now asks for it. Send text.";
const encoder = new TextEncoder();
const framed = (event: JsonObject) => `data: ${JSON.stringify(event)}\n\n`;

class RealtimeView extends InboundView {
  private readonly earlier: number;
  readonly heardTokens: number;

  constructor(inbound: ResponsesRequest, earlier: number, heardTokens: number) {
    super(inbound, ["realtime"]);
    this.earlier = earlier + heardTokens * CHARACTERS_PER_TOKEN;
    this.heardTokens = heardTokens;
  }

  /** The model reads the whole conversation again for each response. */
  override get inputCharacters(): number {
    return super.inputCharacters + this.earlier;
  }

  /** The provider keeps the conversation. */
  override get continuesStored(): boolean {
    return true;
  }
}

/** One response of a session as a governed call: its request in OpenAI's Responses format, its answer as a stream of the session's events. */
export function responseRoute(terms: ResponseTerms): GovernedRoute {
  return { surface: responseSurface(terms), audit: { proxyType: "llm", proxySubtype: "realtime_response" }, body: true };
}

function responseSurface({ models, clientId, earlierCharacters, heardTokens, mayHear, responseId, ask }: ResponseTerms): Surface {
  return {
    read(_call, body) {
      const document = JsonDocument.read(body ?? new Uint8Array(0));
      if (!(document instanceof JsonDocument)) return invalidRequest([document]);
      const checks = new BodyChecks(document.value);
      checks.tools("tools");
      if (checks.fields.length > 0) return invalidRequest(checks.fields);
      const inbound = new ResponsesRequest(document);
      return {
        view: new RealtimeView(inbound, earlierCharacters, heardTokens),
        output: { texts: realtimeAnswerTexts, framing: "events", tellsCalls: true },
        async answer(call) {
          if (!mayHear(call) && heardTokens > 0) return refuse("unsupported_parameter", INSPECTED);
          return models.respond(call, { inbound, earlierCharacters, heardTokens, ask });
        },
      };
    },
    refusal: (refusal) => ({ headers: { "content-type": "application/json" }, body: JSON.stringify(errorEvent(refusal, clientId)) }),
    streamError(refusal) {
      const error = errorEvent(refusal, clientId);
      const id = responseId();
      if (id === null) return encoder.encode(framed(error));
      // Clients wait for the end of a response that has begun.
      const failed = { type: "failed", error: { type: refusal.code, code: refusal.code } };
      const response = { object: "realtime.response", id, status: "failed", status_details: failed, output: [], usage: null };
      return encoder.encode(framed(error) + framed({ type: "response.done", response }));
    },
  };
}
