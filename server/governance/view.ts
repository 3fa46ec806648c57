/**
 * What controls see of a request, whatever wire it came on: the surface fills it, controls read it and know no format.
 */
export interface RequestView {
  /** How the caller named the model; null on calls that address none. */
  readonly model: ModelReference | null;
  readonly streaming: boolean;
  readonly temperature: number | null;
  /** Output ceiling the caller asked for. */
  readonly maxTokens: number | null;
  readonly offersTools: boolean;
  /** The instruction text (system prompt), joined; null when there is none. */
  readonly instructions: string | null;
  /** Rough length of the input, for an estimate when the provider never tells. */
  readonly inputCharacters: number;
}

export interface ModelReference {
  /** Gateway name, provider name or routing group. */
  readonly name: string | null;
  /** Gateway id, which wins: it is unambiguous. */
  readonly id: string | null;
  /** What the model must be able to do to serve this endpoint. */
  readonly mode: string;
}
