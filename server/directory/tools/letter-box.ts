import { exactValue } from "../../kernel/exact-numbers.ts";
import type { Log } from "../../kernel/log.ts";
import type { SecretBox } from "../../kernel/secrets.ts";
import type { Database } from "../../store/database.ts";
import { takeLetters, writeLetter } from "../../store/tool-letters.ts";

type Letter = Readonly<Record<string, unknown>>;

const EVERY_MS = 100;
const CONTEXT = "tool_letters";

/**
 * How processes tell each other of exchanges with tool servers that one of them holds. Letters go through the database,
 * which is asked only while somebody in this process waits for one.
 */
export class LetterBox {
  private readonly waiting = new Map<string, (letter: Letter) => void>();
  private readonly db: Database;
  private readonly secrets: SecretBox;
  private readonly log: Log;
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(db: Database, secrets: SecretBox, log: Log) {
    this.db = db;
    this.secrets = secrets;
    this.log = log;
  }

  /** Gives every letter for the recipient to `take`, until what it returns is called. */
  wait(recipient: string, take: (letter: Letter) => void): () => void {
    this.waiting.set(recipient, take);
    this.timer ??= setTimeout(() => void this.look(), EVERY_MS);
    return () => {
      if (this.waiting.get(recipient) === take) this.waiting.delete(recipient);
    };
  }

  /** Rejects when the database cannot be reached. */
  async send(recipient: string, letter: Letter): Promise<void> {
    await writeLetter(this.db, recipient, this.secrets.seal(JSON.stringify(letter), `${CONTEXT}\n${recipient}`));
  }

  private async look(): Promise<void> {
    try {
      for (const { recipient, body } of await takeLetters(this.db, [...this.waiting.keys()])) this.give(recipient, body);
    } catch (error) {
      this.log.warn("tool_letters_unread", { error: error as Error });
    }
    this.timer = this.waiting.size > 0 ? setTimeout(() => void this.look(), EVERY_MS) : null;
  }

  /** One that cannot be read, or is not taken well, keeps no other from its recipient: they are taken out of the table together. */
  private give(recipient: string, body: string): void {
    try {
      this.waiting.get(recipient)?.(exactValue(this.secrets.open(body, `${CONTEXT}\n${recipient}`)) as Letter);
    } catch (error) {
      this.log.warn("tool_letter_unread", { error: error as Error });
    }
  }
}
