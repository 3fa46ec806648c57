/** The knowledge that a request asks to be answered with. */
export interface AskedKnowledge {
  /** The knowledge bases that the caller names; null: those of their group. */
  readonly ids: readonly string[] | null;
}
