/** The request was never sent to its target, so it cannot have had any effect. */
export class NotSentError extends Error {}
