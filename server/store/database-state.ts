import type pg from "pg";
import { type Database, poolOf } from "./database.ts";

/** Of a database that is silent and not gone: a probe of readiness waits for less. */
const ANSWER_WITHIN_MS = 2_000;

/** Null when the database answers and takes writes, else why not: after a failover, the server asked may be the standby. */
export async function databaseFailure(db: Database): Promise<string | null> {
  // With a bound of its own, the pool lets a connection go that has fallen silent.
  const question: pg.QueryConfig & { query_timeout: number } = {
    text: "SELECT current_setting('transaction_read_only') AS read_only FROM config_version",
    query_timeout: ANSWER_WITHIN_MS,
  };
  try {
    const { rows } = await poolOf(db).query<{ read_only: string }>(question);
    return rows[0]?.read_only === "on" ? "the database takes no writes" : null;
  } catch (error) {
    // Before the first migration there is no table yet, and that too is an answer.
    return (error as { code?: string }).code === "42P01" ? null : `the database does not answer: ${(error as Error).message}`;
  }
}

/** `ask` within a bound, however many ask: one question is under way at a time, so that probes do not fill the pool. */
export function boundedAnswer(ask: () => Promise<string | null>, withinMs = ANSWER_WITHIN_MS): () => Promise<string | null> {
  let asking: Promise<string | null> | null = null;
  return async () => {
    asking ??= ask().finally(() => {
      asking = null;
    });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silence = new Promise<string>((resolve) => {
      timer = setTimeout(resolve, withinMs, "the database does not answer in time");
    });
    return Promise.race([asking, silence]).finally(() => clearTimeout(timer));
  };
}
