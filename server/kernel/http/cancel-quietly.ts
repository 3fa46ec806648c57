/**
 * Cancels a body, or whoever reads it, because nobody wants the rest. A body that broke off before cannot be cancelled, which concerns
 * nobody any more: the promise never rejects.
 */
export function cancelQuietly(
  body: { cancel(reason?: unknown): Promise<void> } | null | undefined,
  reason?: unknown,
): Promise<void> | undefined {
  return body?.cancel(reason).catch(() => undefined);
}
