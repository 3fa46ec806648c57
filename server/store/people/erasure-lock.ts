// Held shared by every shipment and exclusively by an erasure: a row is either stored before the erasure looks for it, or arrives when the
// erasure's event is already visible. Also held exclusively while a block of rows is closed and while retention reduces rows, for the same
// reason.
export const LOCK = 7_201_837_544;
export const LOCK_AGAINST_ERASURE = `SELECT pg_advisory_xact_lock_shared(${LOCK})`;
