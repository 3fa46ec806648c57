/** One promise for all that are still pending; null when none is. */
export function joinPending(all: readonly (Promise<void> | null)[]): Promise<void> | null {
  return all.every((one) => one === null) ? null : Promise.all(all).then(() => undefined);
}
