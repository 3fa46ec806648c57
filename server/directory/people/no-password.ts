/** Stands where the hash of a password would: no password fits it. Of people who sign in elsewhere. */
export const NO_PASSWORD = "none";
