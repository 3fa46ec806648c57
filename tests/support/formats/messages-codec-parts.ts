import type { TargetModel } from "../../../server/wire/conversation/codec.ts";
import { DEFAULT_REQUEST } from "../../../server/wire/conversation/default-request.ts";
import type { ConversationRequest } from "../../../server/wire/conversation/request.ts";

export const TARGET: TargetModel = { name: "claude-opus-5-5", maxOutputTokens: null };
/** A Claude model whose thinking budget is given in tokens. */
export const COUNTS: TargetModel = { name: "claude-sonnet-4-5", maxOutputTokens: null };

export const BARE: ConversationRequest = { ...DEFAULT_REQUEST, turns: [{ role: "user", parts: [{ kind: "text", text: "Hi" }] }] };
export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
