/** How a conversation is kept. */

export interface Attachment {
  readonly name: string;
  /** `data:image/...` */
  readonly url: string;
}

/** Why there is no answer, in the words of the gateway. */
export interface TurnRefusal {
  readonly kind: "limit" | "policy" | "approval" | "model" | "other";
  readonly message: string;
  readonly rule: string | null;
  readonly usage: { readonly group: string; readonly used: number; readonly most: number } | null;
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
}

/** One call of a tool that a model asked for: what it was to be, how far it is, and what came of it. */
export interface ToolCall {
  readonly id: string;
  /** As the model calls it. */
  readonly name: string;
  readonly arguments: string;
  /** Null where it named a tool that there is not. */
  readonly tool: string | null;
  readonly serverId: string | null;
  readonly serverName: string;
  readonly appUri: string | null;
  readonly state: "running" | "waiting" | "done" | "failed" | "refused" | "stopped";
  readonly approval?: { readonly id: string; readonly expiresAt: string | null };
  /** What the model is told. */
  readonly told?: string;
  /** As the server answered, for the tool's own interface. */
  readonly result?: Readonly<Record<string, unknown>>;
  readonly requestId?: string | null;
}

/** What a model said before it called tools, and the calls. */
export interface ToolRound {
  readonly text: string;
  readonly calls: readonly ToolCall[];
}

/** A passage that an answer was given, under the number it is cited by. */
export interface GivenPassage {
  readonly source: number;
  /** Its document and its place in it. */
  readonly id: string;
}

/** It reached the most it may say, or its provider's own rules ended it. */
export type AnswerCut = "length" | "filter";

export interface ChatTurn {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly text: string;
  readonly at: string;
  readonly attachments?: readonly Attachment[];
  /** Of an answer: the model by its name, and the run it may be rated by. */
  readonly model?: string;
  readonly runId?: string | null;
  readonly score?: 1 | -1 | null;
  readonly stopped?: boolean;
  /** Why the model did not end it itself. */
  readonly cut?: AnswerCut;
  /** Of an answer that called tools: what came before its text. */
  readonly rounds?: readonly ToolRound[];
  readonly refusal?: TurnRefusal;
  /** Of an answer from documents: what it may cite. */
  readonly passages?: readonly GivenPassage[];
}

/** What was shown before the first turn, and how: it stays as it was, so that the record says what was read. */
export interface ShownNotice {
  readonly text: string;
  readonly locale: string;
  readonly posted: readonly ("banner" | "inline")[];
}

export interface KeptConversation {
  readonly handle: string;
  /** Whose it is: a browser may be shared. */
  readonly owner: string;
  readonly title: string;
  /** Whether its person gave it that title, which then stays. */
  readonly isNamed?: boolean;
  readonly modelId: string | null;
  /** The tool servers whose tools the model may call here. */
  readonly toolServerIds?: readonly string[];
  /** The knowledge bases it is answered from; without any those of the group, whatever they are. */
  readonly knowledgeBaseIds?: readonly string[] | null;
  readonly startedAt: string;
  readonly changedAt: string;
  readonly notice: ShownNotice | null;
  readonly turns: readonly ChatTurn[];
  /** Other with each time it is kept: what was kept under another than is known here came from another tab. */
  readonly write?: string;
}
