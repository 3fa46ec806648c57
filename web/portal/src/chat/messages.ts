import type { ChatTurn, ToolRound } from "./conversation.ts";

function contentOf({ text, attachments = [] }: ChatTurn): unknown {
  if (attachments.length === 0) return text;
  return [...(text === "" ? [] : [{ type: "text", text }]), ...attachments.map(({ url }) => ({ type: "image_url", image_url: { url } }))];
}

/** Tool calls with their results. Calls without a result are reported as interrupted, because models reject a call without one. */
export function messagesOfRounds(rounds: readonly ToolRound[]): unknown[] {
  return rounds.flatMap(({ text, calls }) => [
    {
      role: "assistant",
      content: text === "" ? null : text,
      tool_calls: calls.map(({ id, name, arguments: given }) => ({
        id,
        type: "function",
        function: { name, arguments: given === "" ? "{}" : given },
      })),
    },
    ...calls.map(({ id, told }) => ({ role: "tool", tool_call_id: id, content: told ?? "The call was stopped." })),
  ]);
}

const isBlocked = (turn: ChatTurn | undefined) => turn?.role === "assistant" && turn.refusal?.kind === "policy";

/**
 * The messages to send to the model. Refused answers are left out; if a rule blocked one, its question is left out too, or the rule would
 * block every later request.
 */
export function messagesOf(turns: readonly ChatTurn[]): unknown[] {
  return turns.flatMap((turn, at) => {
    if (isBlocked(turn) || (turn.role === "user" && isBlocked(turns[at + 1]))) return [];
    const rounds = messagesOfRounds(turn.rounds ?? []);
    if (turn.text === "" && (turn.attachments ?? []).length === 0) return rounds;
    return turn.refusal === undefined ? [...rounds, { role: turn.role, content: contentOf(turn) }] : rounds;
  });
}
