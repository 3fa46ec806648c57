/** Long enough for a shipment in progress, short enough to respond while the database is unreachable. */
const SOON_MS = 2_000;

/** Whether `shipped` resolves within `ms`. Never rejects. */
export async function waitUntilShipped(shipped: Promise<void>, ms: number = SOON_MS): Promise<boolean> {
  const alarm = Promise.withResolvers<boolean>();
  const timer = setTimeout(alarm.resolve, ms, false);
  const there = shipped.then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([there, alarm.promise]);
  } finally {
    clearTimeout(timer);
  }
}
