import type pg from "pg";

/** The methods that the client calls on a custom query. */
interface OwnQuery extends pg.Submittable {
  handleCopyData(message: { readonly chunk: Buffer }): void;
  handleCommandComplete(): void;
  handleReadyForQuery(): void;
  handleError(error: Error): void;
}

/**
 * Returns the lines of `COPY ... TO STDOUT`, each with its line feed, for pages of some thousands. Streaming bytes would cost more than
 * reading the rows.
 */
export function copyOut(client: pg.PoolClient, statement: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const lines: string[] = [];
    const query: OwnQuery = {
      submit: (connection) => connection.query(statement),
      // PostgreSQL sends one message per row.
      handleCopyData: ({ chunk }) => void lines.push(chunk.toString()),
      handleCommandComplete: () => undefined,
      handleReadyForQuery: () => resolve(lines),
      handleError: reject,
    };
    client.query(query);
  });
}
