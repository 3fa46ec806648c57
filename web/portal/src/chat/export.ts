import type { ChatTurn, StoredConversation, ToolCall } from "./conversation.ts";

interface ExportTexts {
  readonly preamble: string;
  readonly you: string;
  readonly aiGenerated: string;
}

const calledTool = ({ tool, name, serverName }: ToolCall) => ({ tool: tool ?? name, server: serverName });

/** Text and tool calls in order, and the names of attached images. */
function textOfTurn({ text, attachments = [], rounds = [] }: ChatTurn): string {
  const called = rounds.flatMap((round) => [
    round.text,
    ...round.calls.map(
      (call) =>
        `> \`${Object.values(calledTool(call))
          .filter((part) => part !== "")
          .join(" · ")}\``,
    ),
  ]);
  return [...called, text, ...attachments.map(({ name }) => `> ${name}`)].filter((part) => part !== "").join("\n\n");
}

/** Both formats state first which parts are AI-generated, and mark each such turn. */
export function conversationAsMarkdown({ title, turns }: StoredConversation, { preamble, you, aiGenerated }: ExportTexts): string {
  const parts = turns
    .map((turn) => ({ ...turn, said: textOfTurn(turn) }))
    .filter(({ said: text }) => text !== "")
    .map(({ role, said, model }) => `## ${role === "user" ? you : `${model ?? ""} (${aiGenerated})`.trim()}\n\n${said}`);
  return `# ${title}\n\n> ${preamble}\n\n${parts.join("\n\n")}\n`;
}

export function conversationAsJson(conversation: StoredConversation, { preamble }: ExportTexts): string {
  const { handle, title, startedAt, notice, turns } = conversation;
  return JSON.stringify(
    {
      preamble,
      conversation_handle: handle,
      title,
      started_at: startedAt,
      notice: notice === null ? null : { text: notice.text, locale: notice.locale },
      turns: turns.map(({ role, text, at, model, runId, attachments, rounds, refusal }) => ({
        role,
        ai_generated: role === "assistant",
        text,
        at,
        ...(attachments === undefined ? {} : { attachments: attachments.map(({ name }) => name) }),
        ...(role === "assistant" ? { model: model ?? null, run_id: runId ?? null } : {}),
        ...(rounds === undefined
          ? {}
          : {
              rounds: rounds.map((round) => ({
                text: round.text,
                calls: round.calls.map((call) => ({
                  ...calledTool(call),
                  arguments: call.arguments,
                  state: call.state,
                  answer: call.told ?? null,
                })),
              })),
            }),
        ...(refusal === undefined ? {} : { refusal: refusal.message }),
      })),
    },
    null,
    2,
  );
}
