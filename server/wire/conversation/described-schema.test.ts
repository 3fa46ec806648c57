import { expect, test } from "bun:test";
import { geminiCodec } from "../gemini/gemini-codec.ts";
import { messagesCodec } from "../messages/messages-codec.ts";
import { chatCodec } from "../openai/chat/codec.ts";

/** The answer schema that is sent to the model. */
function schemaSent(codec: typeof geminiCodec | typeof messagesCodec, schema: object): unknown {
  const read = chatCodec.readRequest({
    messages: [{ role: "user", content: "hi" }],
    response_format: {
      type: "json_schema",
      json_schema: { name: "n", description: "What the weather is.", schema: { type: "object", ...schema } },
    },
  });
  if ("unsupported" in read) throw new Error(JSON.stringify(read));
  const written = codec.writeRequest(read.request, { name: "claude-sonnet-5", maxOutputTokens: 100 });
  if ("unsupported" in written) throw new Error(JSON.stringify(written));
  return JSON.stringify(written.body);
}

test.each([geminiCodec, messagesCodec])(
  "a schema description is sent within the schema in a format without a place for it ($format)",
  (codec) => {
    expect(schemaSent(codec, {})).toContain('"description":"What the weather is."');
    const own = schemaSent(codec, { description: "Its own." });
    expect(own).toContain('"description":"Its own."');
    expect(own).not.toContain("What the weather is.");
  },
);
