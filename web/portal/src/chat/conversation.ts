/** How conversations are stored. */

export interface Attachment {
  readonly name: string;
  /** `data:image/...` */
  readonly url: string;
}

/** Why there is no answer, in the gateway's words. */
export interface TurnRefusal {
  readonly kind: "limit" | "policy" | "approval" | "model" | "provider" | "other";
  readonly message: string;
  readonly rule: string | null;
  readonly usage: { readonly group: string; readonly used: number; readonly most: number } | null;
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
}

/** A tool call requested by a model: its arguments, status and result. */
export interface ToolCall {
  readonly id: string;
  /** The name the model calls it by. */
  readonly name: string;
  readonly arguments: string;
  /** The server's name for it; null if the model named an unknown tool. */
  readonly tool: string | null;
  readonly serverId: string | null;
  readonly serverName: string;
  readonly appUri: string | null;
  readonly state: "running" | "waiting" | "done" | "failed" | "refused" | "stopped";
  readonly approval?: { readonly id: string; readonly expiresAt: string | null };
  /** The result as text for the model. */
  readonly told?: string;
  /** The server's raw result, for the tool's own interface. */
  readonly result?: Readonly<Record<string, unknown>>;
  readonly requestId?: string | null;
}

/** What a model said before it called tools, and the calls. */
export interface ToolRound {
  readonly text: string;
  readonly calls: readonly ToolCall[];
}

/** A passage given for an answer, and the number it is cited by. */
export interface GivenPassage {
  readonly source: number;
  /** Document ID and position in the document. */
  readonly id: string;
}

/** It reached the output limit, or the provider's filter ended it. */
export type AnswerCut = "length" | "filter";

export interface ChatTurn {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly text: string;
  readonly at: string;
  readonly attachments?: readonly Attachment[];
  /** For answers: the model's name, and the run to attach feedback to. */
  readonly model?: string;
  readonly runId?: string | null;
  readonly score?: 1 | -1 | null;
  readonly stopped?: boolean;
  /** Why it was cut off, if the model did not end it. */
  readonly cut?: AnswerCut;
  /** For answers that called tools: the rounds before the final text. */
  readonly rounds?: readonly ToolRound[];
  readonly refusal?: TurnRefusal;
  /** For answers from documents: the passages it may cite. */
  readonly passages?: readonly GivenPassage[];
}

/** The notice shown before the first turn. Kept unchanged, so that the conversation shows what was read. */
export interface ShownNotice {
  readonly text: string;
  readonly locale: string;
  readonly posted: readonly ("banner" | "inline")[];
}

export interface StoredConversation {
  readonly handle: string;
  /** Whose conversation it is: several people may share a browser. */
  readonly owner: string;
  readonly title: string;
  /** Whether the person chose the title, which then does not change by itself. */
  readonly isNamed?: boolean;
  readonly modelId: string | null;
  /** The tool servers whose tools the model may call here. */
  readonly toolServerIds?: readonly string[];
  /** The knowledge bases to answer from; without any, those of the group. */
  readonly knowledgeBaseIds?: readonly string[] | null;
  readonly startedAt: string;
  readonly changedAt: string;
  readonly notice: ShownNotice | null;
  readonly turns: readonly ChatTurn[];
  /** Changes with every write; an unknown value means that another tab wrote it. */
  readonly write?: string;
}
