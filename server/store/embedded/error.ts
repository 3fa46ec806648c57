/** A one-line reason why the database cannot start. */
export class EmbeddedPostgresError extends Error {}
