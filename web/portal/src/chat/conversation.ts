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
  readonly refusal?: TurnRefusal;
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
  readonly modelId: string | null;
  readonly startedAt: string;
  readonly changedAt: string;
  readonly notice: ShownNotice | null;
  readonly turns: readonly ChatTurn[];
}
