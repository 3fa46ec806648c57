import { sql } from "kysely";

/** A moment from now by the database's clock, which all processes share. */
export const inMs = (ms: number) => sql<Date>`now() + ${ms} * interval '1 millisecond'`;
