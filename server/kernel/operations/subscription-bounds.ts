/** Single resources that one listens to at once, or subscribes to in one session. */
export const MAX_SUBSCRIPTIONS = 1_000;
/** Characters of the address of one. */
export const LONGEST_URI = 2_048;
