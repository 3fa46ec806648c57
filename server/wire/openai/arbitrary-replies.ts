import fc from "fast-check";
import type { ConversationReply } from "../conversation/reply.ts";
import type { Usage } from "../usage.ts";
import type { AssistantParts } from "./arbitrary-conversations.ts";

const usage: fc.Arbitrary<Usage> = fc.record({
  inputUncached: fc.nat(99),
  cacheRead: fc.nat(99),
  cacheWrite: fc.nat(99),
  cacheWriteHour: fc.constant(0),
  output: fc.integer({ min: 50, max: 99 }),
  reasoning: fc.nat(50),
  estimated: fc.constant(false),
});

/** Answers whose stop reason agrees with their parts, which are in the order that the format keeps. */
export function replies(parts: AssistantParts, ids: fc.Arbitrary<string>): fc.Arbitrary<ConversationReply> {
  return fc
    .record({ id: ids, parts, short: fc.boolean(), filtered: fc.boolean(), usage: fc.option(usage) })
    .map(({ id, parts: replyParts, short, filtered, usage: counted }) => {
      const refused = replyParts.some(({ kind }) => kind === "refusal");
      const called = replyParts.some(({ kind }) => kind === "tool_call");
      const stop = short ? "length" : called ? "tool_call" : refused ? "refusal" : filtered ? "filtered" : "end";
      return { id, candidates: [{ index: 0, parts: replyParts, stop, stopSequence: null, stopDetail: null }], usage: counted };
    });
}
