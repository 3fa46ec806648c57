import type { Candidate, ReplyPart } from "../conversation/reply.ts";
import { argumentsOf } from "./assistant-writer.ts";

/** The format cannot express arguments that are not an object: such a call is left out, and the candidate ends as malformed. */
export function isMalformedCall(part: ReplyPart): boolean {
  return part.kind === "tool_call" && argumentsOf(part.arguments) === null;
}

export const MALFORMED: Pick<Candidate, "stop" | "stopDetail"> = {
  stop: "malformed",
  stopDetail: "MALFORMED_FUNCTION_CALL: the arguments of a tool call are not a JSON object",
};
