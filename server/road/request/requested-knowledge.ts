/** The knowledge bases that a request wants its answer to draw on. */
export interface RequestedKnowledge {
  /** IDs the caller named; null for the defaults of the resource group. */
  readonly ids: readonly string[] | null;
}
