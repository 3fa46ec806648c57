import type pg from "pg";
import { type Database, poolOf } from "../database.ts";

/** Of a database that is silent and not gone: a probe of readiness waits for less. */
const ANSWER_WITHIN_MS = 2_000;

/** What to do, by the code of a refusal that is the same tomorrow. */
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

/** Null of an error that a person cannot put right in the settings of the database. */
export function databaseRefusal(error: unknown): string | null {
  const { code, message } = error as Error & { code?: string };
  const remedy = REFUSALS[code ?? ""];
  return remedy === undefined ? null : `${message} (${remedy})`;
}

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
    const { code, message } = error as Error & { code?: string };
    // Before the first migration there is no table yet, and that too is an answer.
    if (code === "42P01") return null;
    const refusal = databaseRefusal(error);
    return refusal === null ? `the database does not answer: ${message}` : `the database refuses: ${refusal}`;
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
