import { exactValue } from "../../kernel/text/exact-numbers.ts";
import type { Log } from "../../kernel/log.ts";
import type { SecretBox } from "../../kernel/secrets.ts";
import { processMessageContext } from "../../kernel/seal-contexts.ts";
import type { Database } from "../../store/database.ts";
import { takeProcessMessages, writeProcessMessage } from "../../store/connections/process-messages.ts";

type ProcessMessage = Readonly<Record<string, unknown>>;

const EVERY_MS = 100;

/**
 * Messages between processes about exchanges with tool servers that one of them holds. They go through the database, which
 * is polled only while this process waits for a message.
 */
export class ProcessMessages {
  private readonly waiting = new Map<string, (message: ProcessMessage) => void>();
  private readonly db: Database;
  private readonly secrets: SecretBox;
  private readonly log: Log;
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(db: Database, secrets: SecretBox, log: Log) {
    this.db = db;
    this.secrets = secrets;
    this.log = log;
  }

  /** Passes every message for the recipient to `take` until the returned function is called. */
  wait(recipient: string, take: (message: ProcessMessage) => void): () => void {
    this.waiting.set(recipient, take);
    this.timer ??= setTimeout(() => void this.poll(), EVERY_MS);
    return () => {
      if (this.waiting.get(recipient) === take) this.waiting.delete(recipient);
    };
  }

  /** Rejects if the database is unreachable. */
  async send(recipient: string, message: ProcessMessage): Promise<void> {
    await writeProcessMessage(this.db, recipient, this.secrets.seal(JSON.stringify(message), processMessageContext(recipient)));
  }

  private async poll(): Promise<void> {
    try {
      for (const { recipient, body } of await takeProcessMessages(this.db, [...this.waiting.keys()])) this.give(recipient, body);
    } catch (error) {
      this.log.warn("tool_letters_unread", { error: error as Error });
    }
    this.timer = this.waiting.size > 0 ? setTimeout(() => void this.poll(), EVERY_MS) : null;
  }

  /** A message that fails must not block others, because they are removed from the table together. */
  private give(recipient: string, body: string): void {
    try {
      this.waiting.get(recipient)?.(exactValue(this.secrets.open(body, processMessageContext(recipient))) as ProcessMessage);
    } catch (error) {
      this.log.warn("tool_letter_unread", { error: error as Error });
    }
  }
}
