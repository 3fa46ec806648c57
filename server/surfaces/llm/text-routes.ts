import type { GovernedRoute } from "../../road/road-parts.ts";
import type { Surface } from "../../road/surface.ts";
import type { Dispatch } from "../../services/models/dispatch.ts";
import { chatCompletions } from "./chat-completions.ts";
import { completions } from "./completions.ts";
import { embeddings } from "./embeddings.ts";

interface TextRoute extends Omit<GovernedRoute, "surface"> {
  readonly method: "POST";
  readonly path: string;
  readonly surface: (services: { readonly models: Dispatch }) => Surface;
}

const text = (path: string, proxySubtype: string, surface: (models: Dispatch) => Surface): TextRoute => ({
  ...{ method: "POST", path: `/v1/proxy/llm${path}`, audit: { proxyType: "llm", proxySubtype }, body: true },
  surface: ({ models }) => surface(models),
});

/** All of OpenAI's text routes except those of responses. */
export const TEXT_ROUTES: readonly TextRoute[] = [
  text("/chat/completions", "chat_completions", chatCompletions),
  text("/completions", "completions", completions),
  text("/embeddings", "embeddings", embeddings),
];
