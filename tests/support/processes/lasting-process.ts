import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** A process that outlives the test it was started in. */
export interface LastingProcess {
  readonly pid: number;
  /** Its exit code, or 128 and the number of the signal that ended it; undefined while it runs. */
  exitCode(): number | undefined;
  readonly exited: Promise<number>;
  /** Does nothing once it has ended. */
  kill(signal: NodeJS.Signals): void;
}

/**
 * A test that overruns has Bun send SIGTERM to every process that the test's own has started, the ones that the other
 * tests of the file need among them. So a shell stands in between, which takes that signal and passes nothing on: whoever
 * means the process itself knows its number, which is the first line that it prints. With 143 the shell's wait may have been
 * broken off by the signal, or the process ended by one. When the tests' own process is gone, and with it the shell's
 * standard input, the process is told to end.
 */
const SHELL = `
  trap : TERM
  exec 3<&0
  sh -c 'echo $$; exec "$@"' sh "$@" 3<&- & child=$!
  { read -r _; kill $child; } <&3 & watcher=$!
  while wait $child; code=$?; [ $code = 143 ] && kill -0 $child 2>&-; do :; done
  kill $watcher
  exit $code`;

/** Their standard inputs have to stay open. */
const running = new Set<ChildProcess>();

/** Resolves when it has been started; `onLine` gets each line that it prints, on both streams. */
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
