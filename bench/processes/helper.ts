import { fileURLToPath } from "node:url";
import { plainEnvironment } from "./environment.ts";
import { placed, type Side } from "./placement.ts";
import { register } from "./registry.ts";

/** A Bun process of the benchmark that answers one question at a time over IPC. */
export interface Helper<Question, Answer> {
  readonly pid: number;
  /** The next message, whether requested or not. */
  next(timeoutMs?: number): Promise<Answer>;
  ask(question: Question, timeoutMs?: number): Promise<Answer>;
}

export function startHelper<Question, Answer>(
  name: string,
  script: URL,
  side: Side,
  args: readonly string[] = [],
): Helper<Question, Answer> {
  const received: Answer[] = [];
  let wake = () => {};
  let ended = false;
  const child = Bun.spawn(placed(side, [process.execPath, fileURLToPath(script), ...args]), {
    env: plainEnvironment(),
    stdio: ["ignore", "inherit", "inherit"],
    ipc(message) {
      received.push(message as Answer);
      wake();
    },
  });
  register({ name, pid: child.pid, exited: child.exited });
  void child.exited.then(() => {
    ended = true;
    wake();
  });

  const next = async (timeoutMs = 10_000): Promise<Answer> => {
    const deadline = Date.now() + timeoutMs;
    while (received.length === 0) {
      if (ended) throw new Error(`${name} has ended`);
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`${name} gave no answer within ${timeoutMs} ms`);
      await Promise.race([new Promise<void>((resolve) => (wake = resolve)), Bun.sleep(left)]);
    }
    return received.shift() as Answer;
  };
  return {
    pid: child.pid,
    next,
    ask(question, timeoutMs) {
      child.send(question);
      return next(timeoutMs);
    },
  };
}
