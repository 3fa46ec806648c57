import type { OwnCall } from "../../directory/limits/usage-truth.ts";
import type { ModelEntry } from "../../directory/snapshot.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import type { Call } from "../call.ts";

/** A question the gateway itself asks a model, independent of any vendor's format. */
export interface ModelQuestion {
  /** The audit subtype of the call. */
  readonly purpose: OwnCall;
  readonly model: ModelEntry;
  readonly messages: readonly { readonly role: "system" | "user"; readonly content: string }[];
  /** The longest answer in tokens; null for the model's default. */
  readonly outputTokens: number | null;
  /** Null for the model's default. */
  readonly temperature: number | null;
  /** JSON schema the answer must match; null for plain text. */
  readonly schema: { readonly name: string; readonly schema: JsonObject } | null;
  readonly timeoutMs: number;
  /** Longest wait in milliseconds for budget held by other calls; null for the same wait as a caller's call. */
  readonly waitMs: number | null;
  /** Whether the row records only hashes of request and answer. */
  readonly hashesOnly: boolean;
  /** False if it continues when the parent's caller disconnects. */
  readonly endsWithParent: boolean;
  /** Called with the answer before its row is sealed, to record the result on the row. */
  readonly settled?: (call: Call, reply: ModelReply) => void;
}

/** `unfit`: the model cannot be asked this way, whatever the question. The reason contains nothing of the texts. */
export type ModelReply =
  | { readonly kind: "said"; readonly text: string }
  | { readonly kind: "failed"; readonly reason: string; readonly unfit: boolean };

/** Asks a model on behalf of a call, in a nested call with a row of its own. */
export type AskModel = (parent: Call, question: ModelQuestion) => Promise<ModelReply>;
