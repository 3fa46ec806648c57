/** Null when all of it is done. */
export function together(all: readonly (Promise<void> | null)[]): Promise<void> | null {
  return all.every((one) => one === null) ? null : Promise.all(all).then(() => undefined);
}
