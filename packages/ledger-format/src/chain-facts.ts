/** What is recorded about a chain besides its rows. */
export interface ChainFacts {
  readonly chain_id: string;
  readonly first_seq: number;
  /** Null if the expected end of the chain is unknown. */
  readonly head_seq: number | null;
  readonly head_hash: string | null;
  readonly last_checkpoint_seq: number | null;
  /** When the writer last appended to the chain. */
  readonly updated_at: string | null;
}

/** A row reduced to its links, for a reader who may not see its content. */
export interface RowLink {
  readonly chain_seq: number;
  readonly prev_hash: string;
  readonly row_hash: string;
  readonly created_at?: string | null;
  /** Hashes the content actually gives, if they differ from `row_hash`; computed by someone who could read it. */
  readonly hashes_to?: readonly string[];
}

/** Rows up to `through_seq` were deleted by retention; `checkpoint` is the signed note that covers the last of them. */
export interface PrunedPrefix {
  readonly through_seq: number;
  readonly row_hash: string;
  readonly checkpoint: string;
}

/** A known position of a chain, from a source other than the rows being verified. */
export interface Anchor {
  readonly chainSeq: number;
  /** Lower-case hex. */
  readonly rowHash: string;
}
