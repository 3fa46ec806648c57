import type { OwnCall } from "../directory/limits/usage-truth.ts";
import type { ModelEntry } from "../directory/snapshot.ts";
import type { JsonObject } from "../kernel/json-value.ts";
import type { Call } from "./call.ts";

/** A question of the gateway's own to a model, in words and in no vendor's format. */
export interface ModelQuestion {
  /** How the call is filed. */
  readonly purpose: OwnCall;
  readonly model: ModelEntry;
  readonly messages: readonly { readonly role: "system" | "user"; readonly content: string }[];
  /** The longest answer, in tokens; null: as the model likes. */
  readonly outputTokens: number | null;
  /** Null: the model's own. */
  readonly temperature: number | null;
  /** JSON schema the answer has to fit; null: words. */
  readonly schema: { readonly name: string; readonly schema: JsonObject } | null;
  readonly timeoutMs: number;
  /** Longest wait for a budget that other calls hold; null: as long as a caller's call. */
  readonly waitMs: number | null;
  /** The row records hashes of request and answer only. */
  readonly hashesOnly: boolean;
  /** False: goes on when its parent's caller hangs up. */
  readonly endsWithParent: boolean;
  /** Called with the answer before its row is sealed, to record the result on the row. */
  readonly settled?: (call: Call, reply: ModelReply) => void;
}

/** `unfit`: the model cannot be asked in this way, whatever the question. The reason repeats nothing of the texts. */
export type ModelReply =
  | { readonly kind: "said"; readonly text: string }
  | { readonly kind: "failed"; readonly reason: string; readonly unfit: boolean };

/** Asks a model on behalf of a call, in a nested call with a row of its own. */
export type AskModel = (parent: Call, question: ModelQuestion) => Promise<ModelReply>;
