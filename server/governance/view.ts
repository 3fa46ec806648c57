/**
 * What controls see of a request, whatever wire it came on: the surface fills it, controls read it and know no format.
 */
export interface RequestView {
  /** How the caller named the model; null on calls that address none. */
  readonly model: ModelReference | null;
  readonly streaming: boolean;
  /** Setting writes it into the request. null: not set by the caller. */
  temperature: number | null;
  /** Output ceiling, likewise. */
  maxTokens: number | null;
  /** Answers asked for at once (OpenAI's n); 1 when not said. */
  readonly candidates: number;
  /** Names of the tools offered to the model, in order. */
  readonly tools: readonly string[];
  removeTools(names: ReadonlySet<string>): void;
  /** The instruction text (system prompt), joined; null when there is none. */
  readonly instructions: string | null;
  /** Puts mandatory fragments before and behind the caller's own instructions. */
  addInstructions(before: readonly string[], after: readonly string[]): void;
  /** Every text the model would read, in order, each replaceable in place. */
  texts(): readonly TextSlot[];
  /** Rough length of the input, for an estimate when the provider never tells. */
  readonly inputCharacters: number;
}

export interface TextSlot {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly text: string;
  replace(text: string): void;
}

export interface ModelReference {
  /** Gateway name, provider name or routing group. */
  readonly name: string | null;
  /** Gateway id, which wins: it is unambiguous. */
  readonly id: string | null;
  /** What the model must be able to do to serve this endpoint. */
  readonly mode: string;
}
