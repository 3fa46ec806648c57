import { refuse, Refused } from "../../../kernel/errors.ts";

export interface PasswordHashing {
  hashPassword(password: string): Promise<string>;
  verifyPassword(password: string, hash: string): Promise<boolean>;
  /** Takes as long as a verification and is never true. */
  dummyVerify(password?: string): Promise<boolean>;
  /** Bcrypt, of the short texts that backup codes are. */
  hashCode(code: string): Promise<string>;
  verifyCode(code: string, hash: string): Promise<boolean>;
}

const MOST_WAITING = 64;

/**
 * Slow hashes in a bounded queue, one at a time: many at once would take the processor from governed calls, and whoever
 * is far back in a long queue waits in vain. Rejects with `too_many_logins` when the queue is full.
 */
export function inTurn(hashing: PasswordHashing): PasswordHashing {
  let waiting = 0;
  let tail: Promise<unknown> = Promise.resolve();
  const queued = async <T>(work: () => Promise<T>): Promise<T> => {
    if (waiting >= MOST_WAITING) throw new Refused(refuse("too_many_logins", "Too many logins at once. Try again shortly.", { headers: { "retry-after": "1" } }));
    waiting++;
    const done = tail.then(work);
    tail = done.catch(() => undefined);
    try {
      return await done;
    } finally {
      waiting--;
    }
  };
  return {
    hashPassword: (password) => queued(() => hashing.hashPassword(password)),
    verifyPassword: (password, hash) => queued(() => hashing.verifyPassword(password, hash)),
    dummyVerify: (password) => queued(() => hashing.dummyVerify(password)),
    hashCode: (code) => queued(() => hashing.hashCode(code)),
    verifyCode: (code, hash) => queued(() => hashing.verifyCode(code, hash)),
  };
}
