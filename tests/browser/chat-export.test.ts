import { expect, test } from "bun:test";
import type { StoredConversation } from "../../web/portal/src/chat/conversation.ts";
import { conversationAsJson, conversationAsMarkdown } from "../../web/portal/src/chat/export.ts";
import { titleOf } from "../../web/portal/src/chat/title-of.ts";

const AT = "2026-11-30T12:00:00.000Z";
const conversation: StoredConversation = {
  ...{ handle: "01KB0000000000000000000000", owner: "anna", title: "Orders", modelId: "m", startedAt: AT, changedAt: AT, notice: null },
  turns: [
    { id: "1", role: "user", text: "", at: AT, attachments: [{ name: "receipt.png", url: "data:image/png;base64,AA==" }] },
    {
      ...{ id: "2", role: "assistant", text: "It was sent.", at: AT, model: "calling", runId: "run" },
      rounds: [
        {
          text: "Let me look.",
          calls: [
            {
              ...{ id: "c", name: "order", arguments: '{"id":9007199254740993}', tool: "order", serverId: "s", serverName: "shop" },
              ...{ appUri: null, state: "done", told: "sent" },
            },
          ],
        },
      ],
    },
  ],
};
const TEXTS = { preamble: "Parts are AI-generated.", you: "You", aiGenerated: "AI-generated" };

test("an exported conversation has the text before tool calls, the calls, and the names of attached images", () => {
  expect(conversationAsMarkdown(conversation, TEXTS)).toBe(
    "# Orders\n\n> Parts are AI-generated.\n\n## You\n\n> receipt.png\n\n" +
      "## calling (AI-generated)\n\nLet me look.\n\n> `order · shop`\n\nIt was sent.\n",
  );
  const saved = JSON.parse(conversationAsJson(conversation, TEXTS));
  expect(saved.preamble).toBe("Parts are AI-generated.");
  expect(saved.turns[0].attachments).toEqual(["receipt.png"]);
  expect(saved.turns[1]).toMatchObject({
    ai_generated: true,
    rounds: [
      {
        text: "Let me look.",
        calls: [{ tool: "order", server: "shop", arguments: '{"id":9007199254740993}', state: "done", answer: "sent" }],
      },
    ],
  });
});

test("a truncated title does not split a character", () => {
  expect(titleOf(`${"a".repeat(59)}😀b`)).toBe(`${"a".repeat(59)}😀`);
  expect([titleOf("short"), titleOf("a".repeat(500))]).toEqual(["short", "a".repeat(60)]);
});
