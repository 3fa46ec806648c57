/** What is recorded of a chain beside its rows. */
export interface ChainFacts {
  readonly chain_id: string;
  readonly first_seq: number;
  /** Null when it is not known how far the chain should reach. */
  readonly head_seq: number | null;
  readonly head_hash: string | null;
  readonly last_checkpoint_seq: number | null;
  /** When the writer last added to it. */
  readonly updated_at: string | null;
}

/** The place of a row whose content the reader may not see. */
export interface RowLink {
  readonly chain_seq: number;
  readonly prev_hash: string;
  readonly row_hash: string;
  readonly created_at?: string | null;
  /** What the content gives instead of `row_hash`, where it does not give that: found by whoever could read it. */
  readonly hashes_to?: readonly string[];
}

/** Rows up to `through_seq` were dropped by retention; `checkpoint` is the note over the last of them. */
export interface PrunedPrefix {
  readonly through_seq: number;
  readonly row_hash: string;
  readonly checkpoint: string;
}

/** How far a chain once reached, known from elsewhere than the rows that are verified. */
export interface Anchor {
  readonly chainSeq: number;
  /** Lower-case hex. */
  readonly rowHash: string;
}
