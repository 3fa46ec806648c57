/** Joins all pending promises; null if none is pending. */
export function joinPending(all: readonly (Promise<void> | null)[]): Promise<void> | null {
  return all.every((one) => one === null) ? null : Promise.all(all).then(() => undefined);
}
