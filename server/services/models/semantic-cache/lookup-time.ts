/** The database is asked for no longer than this: a cache may never slow down what it is there to make fast. */
const LOOKUP_MS = 250;

/** The result, or null when it takes longer than a lookup may. */
export async function withinLookupTime<T>(work: Promise<T | null>): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), LOOKUP_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}
