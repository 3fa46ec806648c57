/**
 * Milliseconds of processor time of this process, all its threads together, since `since` (or since it began): what
 * something costs, which does not grow because the machine has other things to do, as the time on the clock does.
 */
export function cpuMs(since = 0): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 - since;
}
