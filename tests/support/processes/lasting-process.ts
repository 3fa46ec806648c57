import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** A process that outlives the test that started it. */
export interface LastingProcess {
  readonly pid: number;
  /** Its exit code, or 128 plus the number of the signal that ended it; undefined while it runs. */
  exitCode(): number | undefined;
  readonly exited: Promise<number>;
  /** Does nothing after it has ended. */
  kill(signal: NodeJS.Signals): void;
}

/**
 * When a test times out, Bun sends SIGTERM to every process started by the test process, including those that other tests in the file need.
 * A shell in between absorbs that signal; to signal the process itself, use its PID, which is the first line printed. On 143 either the
 * shell's wait was interrupted or the process was ended by a signal, hence the check. When the test process dies, the shell's standard
 * input closes and the process is told to end.
 */
const SHELL = `
  trap : TERM
  exec 3<&0
  sh -c 'echo $$; exec "$@"' sh "$@" 3<&- & child=$!
  { read -r _; kill $child; } <&3 & watcher=$!
  while wait $child; code=$?; [ $code = 143 ] && kill -0 $child 2>&-; do :; done
  kill $watcher
  exit $code`;

/** Referenced here, because their standard inputs must stay open. */
const running = new Set<ChildProcess>();

/** Resolves once it has started; `onLine` receives each line of both output streams. */
export async function startLasting(
  [file, ...args]: readonly [string, ...string[]],
  options: { readonly cwd?: string; readonly env?: Record<string, string>; readonly onLine?: (line: string, error: boolean) => void } = {},
): Promise<LastingProcess> {
  const { onLine = () => {}, ...rest } = options;
  const shell = spawn("sh", ["-c", SHELL, "sh", file, ...args], { ...rest, stdio: "pipe" });
  running.add(shell);
  const ended = Promise.withResolvers<number>();
  const started = Promise.withResolvers<number>();
  let code: number | undefined;
  let pid: number | undefined;
  shell.once("error", (error) => started.reject(error));
  shell.once("exit", (exit) => {
    code = exit ?? 1;
    running.delete(shell);
    ended.resolve(code);
    started.reject(new Error(`${file} ended with ${code} at once`));
  });
  createInterface({ input: shell.stdout }).on("line", (line) => {
    if (pid !== undefined) return onLine(line, false);
    pid = Number(line);
    started.resolve(pid);
  });
  createInterface({ input: shell.stderr }).on("line", (line) => onLine(line, true));
  const number = await started.promise;
  return {
    pid: number,
    exitCode: () => code,
    exited: ended.promise,
    kill: (signal) => void (code === undefined && process.kill(number, signal)),
  };
}
