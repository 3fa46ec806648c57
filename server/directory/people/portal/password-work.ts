import { refuse, Refused } from "../../../kernel/errors.ts";

/** Who the hashing is done for. */
export interface HashingRequester {
  /** All that is of one of these shares its turns. */
  readonly of: string;
  /** Somebody who has shown who they are, now or from there before. */
  readonly known: boolean;
}

export interface PasswordHashing {
  hashPassword(password: string, turn?: HashingRequester): Promise<string>;
  verifyPassword(password: string, hash: string, turn?: HashingRequester): Promise<boolean>;
  /** Takes as long as a verification and is never true. */
  dummyVerify(password?: string, turn?: HashingRequester): Promise<boolean>;
  /** Bcrypt, of the short texts that backup codes are. */
  hashCode(code: string, turn?: HashingRequester): Promise<string>;
  verifyCode(code: string, hash: string, turn?: HashingRequester): Promise<boolean>;
}

/** Of somebody who has shown who they are. */
export const hashingRequesterOf = ({ id }: { readonly id: string }): HashingRequester => ({ of: id, known: true });

const MAX_WAITING = 64;
const ANYBODY: HashingRequester = { of: "", known: false };

interface Job {
  run(): Promise<void>;
  refuse(): void;
}

/** Work that waits, by whose it is, in the order of their next turns. */
class Waiting {
  private readonly lines = new Map<string, Job[]>();
  /** With the one that runs. */
  private count = 0;

  /** False when there is no room. Whoever has the most waiting gives way to who has less. */
  add(of: string, job: Job): boolean {
    const own = this.lines.get(of) ?? [];
    if (this.count >= MAX_WAITING) {
      const longest = [...this.lines.values()].reduce<Job[]>((most, line) => (line.length > most.length ? line : most), []);
      if (longest.length <= own.length + 1) return false;
      longest.pop()?.refuse();
      this.count--;
    }
    own.push(job);
    this.lines.set(of, own);
    this.count++;
    return true;
  }

  /** Each has a turn after every other has had one. */
  next(): Job | undefined {
    for (const [of, line] of this.lines) {
      const job = line.shift();
      this.lines.delete(of);
      if (line.length > 0) this.lines.set(of, line);
      return job;
    }
    return undefined;
  }

  done(): void {
    this.count--;
  }
}

/**
 * Slow hashes in bounded queues, one at a time: many at once would take the processor from governed calls, and whoever
 * is far back in a long queue waits in vain. Rejects with `too_many_logins` when there is no room.
 *
 * A storm from one place takes the turns of that place, and a storm from everywhere those of strangers: every second
 * turn is of somebody who is known.
 */
export function queuedHashing(hashing: PasswordHashing): PasswordHashing {
  const known = new Waiting();
  const strangers = new Waiting();
  const otherThan = (one: Waiting) => (one === known ? strangers : known);
  let isRunning = false;

  async function work(): Promise<void> {
    isRunning = true;
    for (let whose = known; ; whose = otherThan(whose)) {
      let job = whose.next();
      if (job === undefined) {
        whose = otherThan(whose);
        job = whose.next();
      }
      if (job === undefined) break;
      await job.run();
      whose.done();
    }
    isRunning = false;
  }

  function queued<T>({ of, known: isKnown }: HashingRequester = ANYBODY, hash: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const refuseIt = () =>
        reject(new Refused(refuse("too_many_logins", "Too many logins at once. Try again shortly.", { headers: { "retry-after": "1" } })));
      if (!(isKnown ? known : strangers).add(of, { run: () => hash().then(resolve, reject), refuse: refuseIt })) return refuseIt();
      if (!isRunning) void work();
    });
  }

  return {
    hashPassword: (password, turn) => queued(turn, () => hashing.hashPassword(password)),
    verifyPassword: (password, hash, turn) => queued(turn, () => hashing.verifyPassword(password, hash)),
    dummyVerify: (password, turn) => queued(turn, () => hashing.dummyVerify(password)),
    hashCode: (code, turn) => queued(turn, () => hashing.hashCode(code)),
    verifyCode: (code, hash, turn) => queued(turn, () => hashing.verifyCode(code, hash)),
  };
}
