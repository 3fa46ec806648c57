import type { AssistantPart } from "../../../server/wire/conversation/conversation-parts.ts";

export const SEALED: AssistantPart = {
  kind: "reasoning",
  text: "Two calls.",
  signature: { family: "openai", value: "gAAAsealed" },
  redacted: false,
};
export const said = (text: string): AssistantPart => ({ kind: "text", text });

export const usage = (inputUncached: number, output: number, cacheRead = 0, cacheWrite = 0, reasoning = 0) => ({
  inputUncached,
  cacheRead,
  cacheWrite,
  cacheWriteHour: 0,
  output,
  reasoning,
  serving: { tier: "standard", geo: null },
  estimated: false,
});
