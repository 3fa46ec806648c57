import { isRefusal } from "../../../kernel/errors.ts";
import { estimated } from "../../../road/metering/stream-usage.ts";
import { isModerationsReply } from "../../../wire/moderations/moderations-reply.ts";
import type { ModerationsRequest } from "../../../wire/moderations/moderations-request.ts";
import { type AttemptParts, providerOf } from "../routing/attempt.ts";
import type { ModelRequest } from "./model-request.ts";
import { passedWhole } from "./passed-whole.ts";

/** A moderation, for providers that speak OpenAI's API. Tokens are estimated, because no vendor reports them. */
export function moderationsModelRequest(request: ModerationsRequest, providers: AttemptParts["providers"]): ModelRequest {
  return {
    inputCharacters: request.inputCharacters,
    prepare(_call, model) {
      const provider = providerOf(providers, model);
      if (isRefusal(provider)) return provider;
      return passedWhole(provider, model, "moderations", request.outbound({ model: model.modelName }), (bytes) =>
        isModerationsReply(bytes) ? { body: bytes, usage: estimated(request.inputCharacters, 0), outputCharacters: 0 } : null,
      );
    },
  };
}
