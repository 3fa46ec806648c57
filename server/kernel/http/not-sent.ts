/** What was asked never left for the server that it was meant for: nothing can have been done. */
export class NotSentError extends Error {}
