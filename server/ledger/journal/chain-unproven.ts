interface UnprovenHeads {
  readonly chainId: string;
  readonly journalSeq: number;
  readonly databaseSeq: number;
  /** The last writer of the journal, as `host/ID`. */
  readonly writer: string;
  /** The last writer according to the database. */
  readonly continuedBy: string | undefined;
}

/**
 * The database has rows of the chain that the journal does not know and no checkpoint covers. Continuing after them would sign rows of
 * unknown origin. Nothing was changed.
 */
export class ChainUnproven extends Error {
  constructor({ chainId, journalSeq, databaseSeq, writer, continuedBy }: UnprovenHeads) {
    const ends = `the audit journal ends at row ${journalSeq} of chain ${chainId}, and the database has it up to row ${databaseSeq}`;
    super(
      continuedBy === undefined || continuedBy === writer
        ? `${ends}, without a checkpoint of this gateway's key over that row: the journal was set back, or the rows were added behind its ` +
            `back. Restore the journal; or verify the chain, and move the journal directory away to start a new one`
        : `${ends}: a gateway on ${hostOf(continuedBy)} continued the chain from a copy of this journal directory, or this directory is ` +
            `the older copy. Stop that gateway (it signs its last row), then start this one again; if it is gone or has another signing ` +
            `key, or is to keep the chain, move this journal directory away to start a new one. See docs/guides/operations.md, "A copied journal"`,
    );
  }
}

const hostOf = (writer: string): string => writer.slice(0, writer.lastIndexOf("/"));
