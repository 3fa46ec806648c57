import { A2A_SUBTYPES } from "../../wire/a2a/audit-subtypes.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import { EMPTY_VIEW } from "../../road/request/empty-view.ts";
import type { Exchange } from "../../road/surface.ts";
import type { RequestView } from "../../road/view.ts";
import type { AgentRequest } from "../../services/agents/agent-request.ts";
import type { AgentService } from "../../services/agents/agent-service.ts";
import { ambiguityOf, ambiguousName } from "../../wire/json/ambiguous-name.ts";
import { extensionsIn } from "../../wire/a2a/extensions.ts";
import { PartSlots } from "../../wire/a2a/part-slots.ts";
import { Malformed } from "../../wire/a2a/shapes.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { TextSlot } from "../../wire/inbound.ts";
import { exactValue } from "../../kernel/text/exact-numbers.ts";
import { isNestedDeeper } from "../../wire/json/nesting.ts";

/** Deepest nesting of objects and arrays in a body. */
const MAX_DEPTH = 100;

/** The agent that a request names. */
export interface NamedAgent {
  readonly tenantId: string | null;
  readonly cardName: string;
}

/** The body as a JSON object. An empty body is an empty object: clients send none if the protocol needs no parameters. */
export function bodyOf(body: Uint8Array | null): JsonObject | Refusal {
  if (body === null || body.byteLength === 0) return {};
  const wrong = (message: string) => refuse("agent_invalid_params", undefined, { fields: [{ field: "", message }] });
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    value = exactValue(text);
  } catch {
    return wrong("the body is not JSON");
  }
  if (!isObject(value)) return wrong("the body must be a JSON object");
  if (isNestedDeeper(text, MAX_DEPTH)) return wrong("the body is nested too deep");
  const unclear = ambiguousName(value);
  return unclear === null ? value : refuse("ambiguous_name", ambiguityOf(unclear));
}

/** The refusal of a malformed request, naming the member. Rethrows any other error. */
export function malformed(error: unknown): Refusal {
  if (!(error instanceof Malformed)) throw error;
  return refuse("agent_invalid_params", undefined, { fields: [{ field: error.field, message: error.problem }] });
}

/** The skill that a message names. A message naming two is refused: it could be allowed for one and be taken for the other. */
function skillOf({ message, metadata }: JsonObject): string | null | Refusal {
  const metadataIds = [isObject(message) ? message.metadata : undefined, metadata].flatMap((one) =>
    isObject(one) ? [one.skillId, one.skill_id] : [],
  );
  const named = metadataIds.filter((one) => one !== undefined && one !== null && one !== "");
  if (new Set(named.map((one) => JSON.stringify(one))).size > 1)
    return refuse("agent_invalid_params", undefined, { fields: [{ field: "metadata.skillId", message: "must name one skill" }] });
  const [skill] = named;
  return typeof skill === "string" ? skill : null;
}

/** Read-only, because the agent receives the header unchanged: a different URI would be a different extension. */
const namedExtension = (text: string): TextSlot => ({ role: "user", kind: "fixed_text", text, replace: () => undefined });

/** Builds the exchange; the controls inspect each part of what is sent. */
export function agentExchange(call: Call, agents: AgentService, named: NamedAgent, request: AgentRequest): Exchange | Refusal {
  const { operation, params, version } = request;
  const sends = operation === "SendMessage" || operation === "SendStreamingMessage";
  call.row.a2a_protocol_version = version;
  call.row.proxy_subtype = A2A_SUBTYPES[operation];
  const skill = sends ? skillOf(params) : null;
  if (skill !== null && typeof skill !== "string") return skill;
  const slots = () => {
    const found = new PartSlots("user");
    if (sends) found.message(params.message);
    if (sends && isObject(params.configuration)) found.mediaTypes(params.configuration.acceptedOutputModes);
    if (sends || operation === "CancelTask") found.json(params, "metadata");
    return [...found.slots, ...extensionsIn(call.headers).map(namedExtension)];
  };
  const view: RequestView = {
    ...EMPTY_VIEW,
    target: { kind: "agent", ...named, sends, skill },
    streaming: operation === "SendStreamingMessage" || operation === "SubscribeToTask",
    texts: slots,
    content: () => JSON.stringify(params as JsonValue),
    get inputCharacters() {
      return slots().reduce((sum, { text }) => sum + text.length, 0);
    },
  };
  return { view, answer: (admitted) => agents.call(admitted, request, view) };
}
