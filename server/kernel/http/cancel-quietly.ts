/**
 * Cancels a body or its reader because the rest is not needed. Cancelling a body that already failed is an error, but an irrelevant one:
 * the promise never rejects.
 */
export function cancelQuietly(
  body: { cancel(reason?: unknown): Promise<void> } | null | undefined,
  reason?: unknown,
): Promise<void> | undefined {
  return body?.cancel(reason).catch(() => undefined);
}
