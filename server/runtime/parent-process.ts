/** Short, so that a supervisor that restarts at once finds the old process gone or stopping. */
const POLL_MS = 100;

/**
 * Calls back once if the launcher that started this process was killed, so that no signal reached this process. Otherwise nothing could
 * stop it, and its data directory would stay locked. Never calls without a launcher.
 */
export function onParentExit(callback: () => void, env: Readonly<Record<string, string | undefined>> = process.env): void {
  const launcher = Number(env["GATEHOUSE_LAUNCHER_PID"] ?? 0);
  if (!Number.isInteger(launcher) || launcher <= 0) return;
  const timer = setInterval(() => {
    // An orphan gets another parent, so a reused PID cannot be mistaken for the launcher.
    if (process.ppid === launcher) return;
    clearInterval(timer);
    callback();
  }, POLL_MS);
  timer.unref();
}
