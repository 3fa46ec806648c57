import { ApiError } from "@gatehouse/web-kit/api-error.ts";
import { isPlainObject, type PlainObject } from "../tools/mcp-request.ts";
import type { OfferedTool } from "../tools/offered-tools.ts";
import { runTool } from "../tools/run-tool.ts";
import { isWrittenObject } from "../tools/written-json.ts";
import { type CalledTool, streamAnswer } from "./ask.ts";
import type { ChatTurn, ToolCall, ToolRound } from "./conversation.ts";
import { messagesOf, messagesOfRounds } from "./messages.ts";

/** After this many rounds of tool calls the model must finish. */
const MAX_ROUNDS = 12;
/** Most characters of a tool result that are passed to the model. */
const MAX_RESULT_LENGTH = 100_000;

type Patch = Partial<Pick<ChatTurn, "text" | "rounds" | "runId" | "passages" | "cut">>;

interface AnswerTurn {
  readonly handle: string;
  readonly modelId: string;
  /** The turns before this answer. */
  readonly before: readonly ChatTurn[];
  /** The answer so far, if it was interrupted when the page was left. */
  readonly begun: ChatTurn;
  readonly tools: readonly OfferedTool[];
  readonly knowledgeBaseIds: readonly string[] | null;
  readonly signal: AbortSignal;
  readonly onChange: (patch: Patch, keep: boolean) => void;
}

/**
 * Runs the tool loop: asks the model, makes the calls it requests, returns their results to it, and repeats until it answers with text
 * only.
 */
export async function answerTurn({ handle, modelId, before, begun, tools, knowledgeBaseIds, signal, onChange }: AnswerTurn): Promise<void> {
  let rounds = begun.rounds ?? [];
  let runId = begun.runId ?? null;
  const offered = tools.filter(({ forModel }) => forModel);
  const tell = (round: number, id: string, patch: Partial<ToolCall>) => {
    rounds = rounds.map((one, at) =>
      at === round ? { ...one, calls: one.calls.map((call) => (call.id === id ? { ...call, ...patch } : call)) } : one,
    );
    onChange({ rounds }, true);
  };
  for (;;) {
    const last = rounds.length - 1;
    await Promise.all(
      (rounds[last]?.calls ?? [])
        .filter(({ told }) => told === undefined)
        .map((call) => settle(call, runId, signal, (patch) => tell(last, call.id, patch))),
    );
    signal.throwIfAborted();
    const answer = await streamAnswer({
      handle,
      modelId,
      messages: [...messagesOf(before), ...messagesOfRounds(rounds)],
      tools: offered,
      knowledgeBaseIds,
      mustEnd: rounds.length >= MAX_ROUNDS,
      runId,
      signal,
      onText: (text) => onChange({ text }, false),
    });
    runId = answer.runId ?? runId;
    // A turn with tool results gets no new passages, so the answer may still cite the earlier ones.
    if (answer.passages.length > 0) onChange({ passages: answer.passages }, true);
    if (answer.calls.length === 0 || rounds.length >= MAX_ROUNDS)
      return onChange({ runId, ...(answer.cut === null ? {} : { cut: answer.cut }) }, true);
    rounds = [...rounds, roundOf(answer, tools)];
    onChange({ text: "", rounds, runId }, true);
  }
}

function roundOf(
  { text, calls }: { readonly text: string; readonly calls: readonly CalledTool[] },
  tools: readonly OfferedTool[],
): ToolRound {
  return {
    text,
    calls: calls.map((call) => {
      const found = tools.find(({ name, forModel }) => forModel && name === call.name);
      return {
        ...call,
        tool: found?.tool ?? null,
        serverId: found?.serverId ?? null,
        serverName: found?.serverName ?? "",
        appUri: found?.appUri ?? null,
        state: "running",
      };
    }),
  };
}

/** The text of a result for the model; for other content, its type. */
function toolMessageText(result: PlainObject): string {
  const parts = (Array.isArray(result.content) ? result.content : []).map((part: unknown) => {
    if (!isPlainObject(part)) return "";
    if (typeof part.text === "string") return part.text;
    if (isPlainObject(part.resource) && typeof part.resource.text === "string") return part.resource.text;
    return `[${String(part.type)}: ${String(part.mimeType ?? part.uri ?? "")}]`;
  });
  const structured = parts.length === 0 && result.structuredContent !== undefined ? JSON.stringify(result.structuredContent) : "";
  const whole = parts.join("\n") || structured;
  return whole.length <= MAX_RESULT_LENGTH
    ? whole
    : `${whole.slice(0, MAX_RESULT_LENGTH)}\n[cut off: the whole answer has ${whole.length} characters]`;
}

/** Brings a call to an end state. Only a stop leaves it without one. */
async function settle(call: ToolCall, runId: string | null, signal: AbortSignal, tell: (patch: Partial<ToolCall>) => void): Promise<void> {
  const argumentsText = call.arguments === "" ? "{}" : call.arguments;
  if (call.tool === null || call.serverId === null) return tell({ state: "failed", told: "There is no such tool." });
  if (!isWrittenObject(argumentsText)) return tell({ state: "failed", told: "The arguments are no JSON object." });
  try {
    const end = await runTool({
      serverId: call.serverId,
      tool: call.tool,
      argumentsText,
      runId,
      signal,
      ...(call.approval === undefined ? {} : { approval: call.approval }),
      onHeld: (approval) => tell({ state: "waiting", approval }),
    });
    if (end.kind === "refused")
      return tell({
        state: "refused",
        told: `The call was not approved (${end.reason}).${end.note === null || end.note === "" ? "" : ` Note: ${end.note}`}`,
      });
    if (end.result.resultType === "input_required")
      return tell({ state: "failed", told: "The tool asks for input, which cannot be given in this conversation." });
    tell({ state: end.result.isError === true ? "failed" : "done", told: toolMessageText(end.result), result: end.result });
  } catch (error) {
    if (signal.aborted) return tell({ state: "stopped", told: "The call was stopped." });
    const requestId = error instanceof ApiError ? error.requestId : null;
    tell({ state: "failed", told: error instanceof Error ? error.message : String(error), requestId });
  }
}
