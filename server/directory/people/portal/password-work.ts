import { refuse, Refused } from "../../../kernel/errors.ts";

/** For whom a hash is computed. */
export interface HashingRequester {
  /** Requests with the same value share turns. */
  readonly of: string;
  /** Whether the requester has authenticated, now or previously from this address. */
  readonly known: boolean;
}

export interface PasswordHashing {
  hashPassword(password: string, turn?: HashingRequester): Promise<string>;
  verifyPassword(password: string, hash: string, turn?: HashingRequester): Promise<boolean>;
  /** Takes as long as a verification and always resolves to false. */
  dummyVerify(password?: string, turn?: HashingRequester): Promise<boolean>;
  /** Bcrypt, for short texts such as backup codes. */
  hashCode(code: string, turn?: HashingRequester): Promise<string>;
  verifyCode(code: string, hash: string, turn?: HashingRequester): Promise<boolean>;
}

/** The requester for an authenticated user. */
export const hashingRequesterOf = ({ id }: { readonly id: string }): HashingRequester => ({ of: id, known: true });

const MAX_WAITING = 64;
const ANYBODY: HashingRequester = { of: "", known: false };

interface Job {
  run(): Promise<void>;
  refuse(): void;
}

/** Queued work by requester, in the order of their next turns. */
class Waiting {
  private readonly lines = new Map<string, Job[]>();
  /** Includes the running job. */
  private count = 0;

  /** Returns false if there is no room. When full, the longest queue gives up a job for a shorter one. */
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

  /** Takes turns among requesters (round robin). */
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
 * Runs slow hashes one at a time from bounded queues: many at once would starve governed calls, and long queues would make
 * callers wait in vain. Rejects with `too_many_logins` if there is no room.
 *
 * A flood from one address uses up only that address's turns, and one from everywhere only those of unknown requesters:
 * every second turn goes to a known one.
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
