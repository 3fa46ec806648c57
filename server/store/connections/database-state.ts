import type pg from "pg";
import { type Database, poolOf } from "../database.ts";

/** For a database that is reachable but does not answer; readiness probes time out after less than a driver would. */
const ANSWER_WITHIN_MS = 2_000;

/** The remedy by error code, for refusals that retrying will not cure. */
const REFUSALS: Readonly<Record<string, string>> = {
  "28P01": "give the user's password",
  "28000": "give a user that pg_hba.conf of the server lets in",
  "3D000": "create it, or name another",
  CERT_HAS_EXPIRED: "give the server a certificate that has not ended",
  ERR_TLS_CERT_ALTNAME_INVALID: "name the server as its certificate does",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    "name the authority's certificate as sslrootcert=FILE, or in NODE_EXTRA_CA_CERTS, or have the server send those in between",
  "42501": "give a user that owns the database, or grant it what it lacks",
};

/** Null if the error cannot be cured by changing settings of the database. */
export function databaseRefusal(error: unknown): string | null {
  const { code, message } = error as Error & { code?: string };
  const remedy = REFUSALS[code ?? ""];
  return remedy === undefined ? null : `${message} (${remedy})`;
}

/** Null if the database answers and accepts writes, otherwise the reason: after a failover the server may be a standby. */
export async function databaseFailure(db: Database): Promise<string | null> {
  // A timeout of its own makes the pool close a connection that has fallen silent.
  const question: pg.QueryConfig & { query_timeout: number } = {
    text: "SELECT current_setting('transaction_read_only') AS read_only FROM config_version",
    query_timeout: ANSWER_WITHIN_MS,
  };
  try {
    const { rows } = await poolOf(db).query<{ read_only: string }>(question);
    return rows[0]?.read_only === "on" ? "the database takes no writes" : null;
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    // Before the first migration the table does not exist yet, which still is an answer.
    if (code === "42P01") return null;
    const refusal = databaseRefusal(error);
    return refusal === null ? `the database does not answer: ${message}` : `the database refuses: ${refusal}`;
  }
}

/** Calls `ask` with a timeout, sharing one call among all concurrent callers, so that probes do not exhaust the pool. */
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
