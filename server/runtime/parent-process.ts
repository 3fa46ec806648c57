/** Often enough that a supervisor that starts us again at once finds the old process gone or going. */
const POLL_MS = 100;

/**
 * Calls back once when the launcher that started this process has exited without passing on a signal (it was
 * killed). Nobody could stop this process any more, and its data directory would stay taken. Without a launcher it
 * never calls.
 */
export function onParentExit(callback: () => void, env: Readonly<Record<string, string | undefined>> = process.env): void {
  const launcher = Number(env["GATEHOUSE_LAUNCHER_PID"] ?? 0);
  if (!Number.isInteger(launcher) || launcher <= 0) return;
  const timer = setInterval(() => {
    // The kernel hands an orphan to another parent, so a reused pid cannot be taken for the launcher.
    if (process.ppid === launcher) return;
    clearInterval(timer);
    callback();
  }, POLL_MS);
  timer.unref();
}
