import type { KeptConversation } from "./conversation.ts";

interface ExportTexts {
  readonly preamble: string;
  readonly you: string;
  readonly aiGenerated: string;
}

/** Both forms open with what is AI-generated in them, and mark each turn that is. */
export function conversationAsMarkdown({ title, turns }: KeptConversation, { preamble, you, aiGenerated }: ExportTexts): string {
  const parts = turns
    .filter(({ text }) => text !== "")
    .map(({ role, text, model }) => `## ${role === "user" ? you : `${model ?? ""} (${aiGenerated})`.trim()}\n\n${text}`);
  return `# ${title}\n\n> ${preamble}\n\n${parts.join("\n\n")}\n`;
}

export function conversationAsJson(conversation: KeptConversation, { preamble }: ExportTexts): string {
  const { handle, title, startedAt, notice, turns } = conversation;
  return JSON.stringify(
    {
      preamble,
      conversation_handle: handle,
      title,
      started_at: startedAt,
      notice: notice === null ? null : { text: notice.text, locale: notice.locale },
      turns: turns.map(({ role, text, at, model, runId }) => ({
        role,
        ai_generated: role === "assistant",
        text,
        at,
        ...(role === "assistant" ? { model: model ?? null, run_id: runId ?? null } : {}),
      })),
    },
    null,
    2,
  );
}
