/** Most single resources that a client listens to at once, or subscribes to in one session. */
export const MAX_SUBSCRIPTIONS = 1_000;
/** Most characters of a resource's URI. */
export const MAX_URI_LENGTH = 2_048;
