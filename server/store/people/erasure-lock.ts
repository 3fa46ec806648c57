// Held shared by every shipment and alone by an erasure: a row is in the table before the erasure looks, or arrives after
// its event is there to be seen. Held alone as well while a block of rows is closed and
// while retention reduces rows, for the same reason.
export const LOCK = 7_201_837_544;
export const LOCK_AGAINST_ERASURE = `SELECT pg_advisory_xact_lock_shared(${LOCK})`;
