import type { Surface } from "../../road/surface.ts";
import type { BatchEndpoint } from "../../services/batch/batch-endpoints.ts";
import type { KeptItems } from "../../services/models/kept-items.ts";
import type { Dispatch } from "../../services/models/dispatch.ts";
import { chatCompletions } from "../llm/chat-completions.ts";
import { completions } from "../llm/completions.ts";
import { embeddings } from "../llm/embeddings.ts";
import { moderations } from "../llm/moderations.ts";
import { responses } from "../llm/responses.ts";

/** How a line of a batch is read and answered: as a call of its endpoint is. */
export function lineSurfaces(models: Dispatch, items: Pick<KeptItems, "find" | "keep">): Readonly<Record<BatchEndpoint, Surface>> {
  return {
    "/v1/chat/completions": chatCompletions(models),
    "/v1/responses": responses(models, items),
    "/v1/completions": completions(models),
    "/v1/embeddings": embeddings(models),
    "/v1/moderations": moderations(models),
  };
}
