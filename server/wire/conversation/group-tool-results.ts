import type { Turn } from "./request.ts";
import type { UserPart } from "./conversation-parts.ts";

/**
 * The turns with all results of parallel tool calls in one turn directly after the calls, however the caller ordered or
 * split them, because providers refuse any other order.
 */
export function groupToolResults(turns: readonly Turn[]): readonly Turn[] {
  const ordered: Turn[] = [];
  /** The index after the model's last turn; null before the first. */
  let behind: number | null = null;
  let results: UserPart[] | null = null;
  for (const turn of turns) {
    if (turn.role !== "user" || !turn.parts.some(isResult)) {
      ordered.push(turn);
      if (turn.role !== "assistant") continue;
      behind = ordered.length;
      results = null;
    } else if (results === null && (behind === null || ordered.length === behind)) {
      ordered.push({ role: "user", parts: (results = [...turn.parts]) });
    } else {
      if (results === null) ordered.splice(behind ?? 0, 0, { role: "user", parts: (results = []) });
      results.push(...turn.parts.filter(isResult));
      const rest = turn.parts.filter((part) => !isResult(part));
      if (rest.length > 0) ordered.push({ role: "user", parts: rest });
    }
  }
  return ordered;
}

function isResult({ kind }: UserPart): boolean {
  return kind === "tool_result";
}
