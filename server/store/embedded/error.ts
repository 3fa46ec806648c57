/** A reason not to start, in one line. */
export class EmbeddedPostgresError extends Error {}
