import type { ConversationRequest, Feature } from "./request.ts";
import type { FilePart, ImagePart } from "./conversation-parts.ts";

/** Images and files in a request, also those in the results of tools. */
function* mediaIn({ turns }: ConversationRequest): Generator<ImagePart | FilePart> {
  for (const turn of turns) {
    if (turn.role !== "user") continue;
    for (const part of turn.parts)
      for (const each of part.kind === "tool_result" ? part.content : [part]) if (each.kind === "image" || each.kind === "file") yield each;
  }
}

/** For formats in which a model cannot be asked to cite the files of a request. */
export const NO_CITATIONS = "citations cannot be asked of this model";

export function asksForCitations(request: ConversationRequest): boolean {
  for (const part of mediaIn(request)) if (part.kind === "file" && part.cited === true) return true;
  return false;
}

/** For formats in which a request cannot choose how closely an image is looked at. */
export function detailLosses(request: ConversationRequest): Feature[] {
  for (const part of mediaIn(request))
    if (part.kind === "image" && part.detail !== undefined && part.detail !== "auto") return ["image_detail"];
  return [];
}

/** For formats in which a file has no name. */
export function fileNameLosses(request: ConversationRequest): Feature[] {
  for (const part of mediaIn(request)) if (part.kind === "file" && part.name !== null) return ["file_name"];
  return [];
}
