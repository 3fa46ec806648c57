import type pg from "pg";

/** What the client tells a query of its own kind. */
interface OwnQuery extends pg.Submittable {
  handleCopyData(message: { readonly chunk: Buffer }): void;
  handleCommandComplete(): void;
  handleReadyForQuery(): void;
  handleError(error: Error): void;
}

/**
 * The lines `COPY ... TO STDOUT` gives, each with its line feed: for pages of some thousands. A stream of bytes costs more
 * than reading the rows in it.
 */
export function copyOut(client: pg.PoolClient, statement: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const lines: string[] = [];
    const query: OwnQuery = {
      submit: (connection) => connection.query(statement),
      // PostgreSQL sends one message for each row.
      handleCopyData: ({ chunk }) => void lines.push(chunk.toString()),
      handleCommandComplete: () => undefined,
      handleReadyForQuery: () => resolve(lines),
      handleError: reject,
    };
    client.query(query);
  });
}
