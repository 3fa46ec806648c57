import { setTimeout as delay } from "node:timers/promises";
import { refuse, Refused } from "../../kernel/errors.ts";
import {
  finishIdempotentAnswer,
  idempotentAnswer,
  putIdempotentAnswer,
  type IdempotentAnswerRow,
} from "../../store/records/idempotent-answers.ts";
import { lockName } from "../../store/connections/named-lock.ts";
import type { Directory, Write } from "./write.ts";

/** How long a request that is sent again is answered as it was at first. */
export const ANSWERS_KEPT_MS = 24 * 3_600_000;
/** How long what follows the transaction of a request, such as a look at a tool server, may take. */
const FINISHED_WITHIN_MS = 60_000;
const LOOK_AGAIN_MS = 50;

export interface KeptAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly etag?: string | undefined;
}

/** Thrown where another request with the same key was carried out meanwhile. */
export class AnsweredBefore extends Error {}

/**
 * A request with an Idempotency-Key: carried out once, however often and at once it is sent. What it is answered is kept in
 * the transaction that makes the change, so that neither is there without the other.
 */
export class IdempotentRequest {
  private readonly directory: Directory;
  private readonly of: { readonly admin_id: string; readonly key_hash: string };
  private readonly requestHash: string;
  private isMade = false;

  /** `request`: all that makes it another one. */
  constructor(directory: Directory, adminId: string, key: string, request: unknown) {
    this.directory = directory;
    // Keyed: a plain hash of a request that has a password in it could be guessed.
    const hashOf = (text: string) => directory.secrets.hmac("idempotency", text);
    this.of = { admin_id: adminId, key_hash: hashOf(key) };
    this.requestHash = hashOf(JSON.stringify(request));
  }

  /** What it was answered before. Waits for one that is under way; throws a refusal when the key came with another request. */
  async answered(): Promise<KeptAnswer | undefined> {
    for (;;) {
      const row = await this.find(this.directory.db);
      if (row === undefined) return undefined;
      const isUnderWay = !row.is_final && this.directory.clock.now() - row.made_at.getTime() < FINISHED_WITHIN_MS;
      if (!isUnderWay) return JSON.parse(this.directory.secrets.open(row.answer_sealed, this.context())) as KeptAnswer;
      await delay(LOOK_AGAIN_MS);
    }
  }

  /** The first write of the request keeps what `answerOf` makes of it; `run` is the transaction. */
  async write<T>(
    run: (work: (write: Write) => Promise<T>) => Promise<T>,
    work: (write: Write) => Promise<T>,
    answerOf: (result: T) => { readonly answer: KeptAnswer; readonly recordId: string | null },
  ): Promise<T> {
    if (this.isMade) return run(work);
    const done = await run(async (write) => {
      await lockName(write.trx, `idempotency ${this.of.admin_id} ${this.of.key_hash}`);
      if ((await this.find(write.trx)) !== undefined) throw new AnsweredBefore();
      const result = await work(write);
      const { answer, recordId } = answerOf(result);
      await putIdempotentAnswer(write.trx, {
        ...this.of,
        request_hash: this.requestHash,
        record_id: recordId,
        answer_sealed: this.sealed(answer),
        is_final: false,
        made_at: write.now,
      });
      return result;
    });
    this.isMade = true;
    return done;
  }

  /** Nothing is added to the answer any more. */
  async finish(answer: KeptAnswer): Promise<void> {
    if (this.isMade) await finishIdempotentAnswer(this.directory.db, this.of, this.sealed(answer));
  }

  private async find(db: Directory["db"]): Promise<IdempotentAnswerRow | undefined> {
    const since = new Date(this.directory.clock.now() - ANSWERS_KEPT_MS);
    const row = await idempotentAnswer(db, this.of, since);
    if (row !== undefined && row.request_hash !== this.requestHash) throw new Refused(refuse("idempotency_key_reused"));
    return row;
  }

  private sealed(answer: KeptAnswer): string {
    return this.directory.secrets.seal(JSON.stringify(answer), this.context());
  }

  private context(): string {
    return `idempotent_answers:${this.of.admin_id}/${this.of.key_hash}`;
  }
}
