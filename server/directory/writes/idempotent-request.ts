import { setTimeout as delay } from "node:timers/promises";
import { refuse, Refused } from "../../kernel/errors.ts";
import { idempotentAnswerContext } from "../../kernel/seal-contexts.ts";
import {
  finishIdempotentAnswer,
  idempotentAnswer,
  putIdempotentAnswer,
  type IdempotentAnswerRow,
} from "../../store/records/idempotent-answers.ts";
import { lockName } from "../../store/connections/named-lock.ts";
import type { Directory, Write } from "./write.ts";

/** How long a repeated request gets the original answer. */
export const RESPONSE_RETENTION_MS = 24 * 3_600_000;
/** How long the work after a request's transaction may take, such as probing a tool server. */
const FINISHED_WITHIN_MS = 60_000;
const POLL_INTERVAL_MS = 50;

export interface IdempotentResponse {
  readonly status: number;
  readonly body: unknown;
  readonly etag?: string | undefined;
}

/** Thrown if another request with the same key was carried out in the meantime. */
export class AnsweredBefore extends Error {}

/**
 * A request with an Idempotency-Key, which is carried out once, however often or concurrently it is sent. Its answer is
 * stored in the transaction of the change, so neither exists without the other.
 */
export class IdempotentRequest {
  private readonly directory: Directory;
  private readonly of: { readonly admin_id: string; readonly key_hash: string };
  private readonly requestHash: string;
  private isMade = false;

  /** `request`: everything that distinguishes it from other requests. */
  constructor(directory: Directory, adminId: string, key: string, request: unknown) {
    this.directory = directory;
    // An HMAC, because a plain hash of a request with a password could be brute-forced.
    const hashOf = (text: string) => directory.secrets.hmac("idempotency", text);
    this.of = { admin_id: adminId, key_hash: hashOf(key) };
    this.requestHash = hashOf(JSON.stringify(request));
  }

  /**
   * The stored answer; undefined if there is none. Waits for a request in progress; throws a refusal if the key was used for
   * a different request.
   */
  async answered(): Promise<IdempotentResponse | undefined> {
    for (;;) {
      const row = await this.find(this.directory.db);
      if (row === undefined) return undefined;
      const isUnderWay = !row.is_final && this.directory.clock.now() - row.made_at.getTime() < FINISHED_WITHIN_MS;
      if (!isUnderWay) return JSON.parse(this.directory.secrets.open(row.answer_sealed, this.context())) as IdempotentResponse;
      await delay(POLL_INTERVAL_MS);
    }
  }

  /** The first write of the request also stores the answer made by `answerOf`. `run` executes the transaction. Throws `AnsweredBefore`. */
  async write<T>(
    run: (work: (write: Write) => Promise<T>) => Promise<T>,
    work: (write: Write) => Promise<T>,
    answerOf: (result: T) => { readonly answer: IdempotentResponse; readonly recordId: string | null },
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

  /** Stores the final answer. */
  async finish(answer: IdempotentResponse): Promise<void> {
    if (this.isMade) await finishIdempotentAnswer(this.directory.db, this.of, this.sealed(answer));
  }

  private async find(db: Directory["db"]): Promise<IdempotentAnswerRow | undefined> {
    const since = new Date(this.directory.clock.now() - RESPONSE_RETENTION_MS);
    const row = await idempotentAnswer(db, this.of, since);
    if (row !== undefined && row.request_hash !== this.requestHash) throw new Refused(refuse("idempotency_key_reused"));
    return row;
  }

  private sealed(answer: IdempotentResponse): string {
    return this.directory.secrets.seal(JSON.stringify(answer), this.context());
  }

  private context(): string {
    return idempotentAnswerContext(this.of.admin_id, this.of.key_hash);
  }
}
