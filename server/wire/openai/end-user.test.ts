import { expect, test } from "bun:test";
import { readMessagesConversation } from "../messages/read-request.ts";
import { responsesCodec } from "../responses/responses-codec.ts";
import { chatCodec } from "./chat/codec.ts";

function endUserSent(user_id: string, codec: typeof chatCodec): unknown {
  const body = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hello" }], metadata: { user_id } };
  const read = readMessagesConversation(body);
  const written = "request" in read ? codec.writeRequest(read.request, { name: "m", maxOutputTokens: null }) : read;
  const told = "body" in written ? written.body : {};
  return told.user ?? told.safety_identifier;
}

test.each([chatCodec, responsesCodec])(
  "an end user's ID too long for OpenAI is sent as a stable hash, and others unchanged ($format)",
  (codec) => {
    const agent = (account: string) =>
      JSON.stringify({ device_id: "d".repeat(64), account_uuid: account, session_id: crypto.randomUUID() });
    for (const long of [agent(""), agent(crypto.randomUUID()), "u".repeat(65)]) {
      expect(endUserSent(long, codec)).toMatch(/^[0-9a-f]{64}$/);
      expect(endUserSent(long, codec)).toBe(endUserSent(long, codec));
      expect(endUserSent(long, codec)).not.toBe(endUserSent(`${long}.`, codec));
    }
    for (const short of ["user-1", "u".repeat(64)]) expect(endUserSent(short, codec)).toBe(short);
  },
);
