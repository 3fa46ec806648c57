import { reasonOf, type Refusal, refuse } from "../../../kernel/errors.ts";
import { isObject } from "../../../kernel/json-value.ts";
import { supportsUrlElicitation } from "../../../wire/mcp/elicitation.ts";
import { requestDigest } from "../../../wire/mcp/exact-arguments.ts";
import { ownEntry } from "../../../kernel/collections/own-entry.ts";
import { INPUT_CAPABILITY } from "../../../wire/mcp/input-capabilities.ts";
import { errorText, resultText, type RpcId } from "../../../wire/mcp/rpc.ts";
import type { Call } from "../../../road/call.ts";
import { principalOf } from "../../../road/principal.ts";
import type { Asked } from "../forwarding/exchange.ts";
import type { ForwardedRequest } from "../forwarding/forwarded-request.ts";
import { holdExchange, resumeExchange } from "./held-exchanges.ts";
import { readExactly, type OpenQuestion } from "./questions-together.ts";
import { openState, sealState } from "../sessions/sealed-state.ts";
import type { ToolParts } from "../tool-parts.ts";
import type { UpstreamMessage } from "../forwarding/upstream-messages.ts";

function stateOwner(call: Call, request: ForwardedRequest): string {
  return `${principalOf(call)}\n${request.server.id}\n${request.method}\n${requestDigest(request.params)}`;
}

/**
 * Turns requests of a handshake server into an `input_required` answer of the stateless dialect: the exchange is held, and the caller
 * repeats the call with the answers.
 */
export function heldAnswer(
  call: Call,
  forwarded: ForwardedRequest,
  exchange: Asked,
  questions: readonly OpenQuestion[],
  parts: ToolParts,
): string {
  const neededBy = ({ method }: OpenQuestion) => ownEntry(INPUT_CAPABILITY, method);
  const unaskable = questions.find((question) => {
    const needed = neededBy(question);
    return needed === undefined || forwarded.sender.capabilities[needed] === undefined;
  });
  if (unaskable !== undefined) {
    // Refuse all questions, so that the server does not wait for answers that will not come.
    const error = { code: -32601, message: "The client cannot be asked for this." };
    void Promise.all(questions.map(({ id }) => exchange.respond(errorText(JSON.parse(id) as RpcId, error)))).then(() => exchange.end());
    const needed = neededBy(unaskable);
    return errorText(
      forwarded.id,
      needed === undefined
        ? { code: -32603, message: "The tool server asked for something that no client of this dialect can be asked for." }
        : {
            code: -32021,
            message: `The tool server needs a client with the capability ${needed}.`,
            data: { requiredCapabilities: { [needed]: {} } },
          },
    );
  }
  const held = holdExchange(parts, exchange, call.identity?.tenantId ?? "");
  if (held === null) exchange.end();
  if (held === null) return errorText(forwarded.id, { code: -32603, message: "Too many exchanges wait for input just now." });
  const requests = questions.map(({ id, input }) => ({ request: id, input }));
  return asking(forwarded, requests, sealState(parts.secrets, "mcp-held", stateOwner(call, forwarded), { held, asked: requests }));
}

/** A question to the caller, and the ID under which the server waits for the response; both as JSON text. */
interface CallerQuestion {
  readonly request: string;
  readonly input: string;
}

/** The question's key in `inputRequests`. */
const inputName = (at: number): string => (at === 0 ? "input" : `input_${at + 1}`);

function asking({ id }: ForwardedRequest, questions: readonly CallerQuestion[], requestState: string): string {
  const inputs = questions.map(({ input }, at) => `${JSON.stringify(inputName(at))}:${input}`).join(",");
  return resultText(id, `{"resultType":"input_required","inputRequests":{${inputs}},"requestState":${JSON.stringify(requestState)}}`);
}

/** The error with which a handshake server asks the client to open a URL first; in the stateless dialect this is a question. */
const OPEN_FIRST = -32042;

/**
 * The `input_required` answer that asks a stateless caller to open URLs first; null if that is not what the server demands, or the caller
 * cannot do it.
 */
export function openFirst(call: Call, request: ForwardedRequest, { value: { error } }: UpstreamMessage, parts: ToolParts): string | null {
  if (
    request.dialect !== "stateless" ||
    request.server.dialect === "stateless" ||
    !isObject(error) ||
    error.code !== OPEN_FIRST ||
    !supportsUrlElicitation(request.sender.capabilities)
  )
    return null;
  const links = isObject(error.data) && Array.isArray(error.data.elicitations) ? error.data.elicitations.filter(isObject) : [];
  const inputRequests = Object.fromEntries(
    links.flatMap(({ url, message }, at) =>
      typeof url === "string"
        ? [[`open_${at}`, { method: "elicitation/create", params: { mode: "url", url, message: String(message ?? "") } }]]
        : [],
    ),
  );
  if (Object.keys(inputRequests).length === 0) return null;
  return resultText(
    request.id,
    JSON.stringify({
      resultType: "input_required",
      inputRequests,
      requestState: sealState(parts.secrets, "mcp-held", stateOwner(call, request), { open: true }),
    }),
  );
}

/**
 * Resumes the held exchange to which a repeated call belongs, or returns the answer for the caller. Null if the request is not a
 * repetition, or has to start over.
 */
export async function resumeHeld(
  call: Call,
  request: ForwardedRequest,
  parts: ToolParts,
): Promise<Asked | { readonly answer: string | Refusal } | null> {
  const { requestState } = request.parsed;
  if (requestState === undefined) return null;
  const state = typeof requestState === "string" ? openState(parts.secrets, "mcp-held", stateOwner(call, request), requestState) : null;
  if (typeof requestState !== "string" || state === null)
    return { answer: errorText(request.id, { code: -32602, message: "requestState is not what was given for this request." }) };
  const { inputResponses } = readExactly(request.params);
  if (state.open === true) {
    const declined =
      isObject(inputResponses) && Object.values(inputResponses).some((given) => isObject(given) && given.action !== "accept");
    return declined ? { answer: refuse("input_not_supported", "The client did not open what the tool server asked for.") } : null;
  }
  const storedQuestions = state.asked as unknown as readonly CallerQuestion[];
  const given = storedQuestions.map((_, at) => (isObject(inputResponses) ? inputResponses[inputName(at)] : undefined));
  // If answers are missing, all questions are asked again.
  if (given.includes(undefined)) return { answer: asking(request, storedQuestions, requestState) };
  const unrecorded = beginResumed(call, request, parts);
  if (unrecorded !== null) return { answer: errorText(request.id, { code: -32603, message: unrecorded.message }) };
  const [first = "", ...others] = storedQuestions.map(
    ({ request: id }, at) => `{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(given[at])}}`,
  );
  const resumed = await resumeExchange(parts, String(state.held), first, call.abort.signal);
  if (resumed === null)
    return { answer: errorText(request.id, { code: -32603, message: "The exchange that waited for this input is over. Start again." }) };
  for (const say of others) await resumed.respond(say);
  return resumed;
}

function beginResumed(call: Call, request: ForwardedRequest, parts: ToolParts): Refusal | null {
  call.row.target_url = request.server.url;
  try {
    parts.begin(call);
    return null;
  } catch (error) {
    return refuse("audit_unavailable", undefined, { reason: reasonOf(error) });
  }
}
