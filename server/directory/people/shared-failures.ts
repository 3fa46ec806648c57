import { USE_LIMITS, type AddressUse, type SharedUses } from "./address-throttle.ts";
import type { PagePlane } from "./page-sessions.ts";

/** Failures after which further attempts have to wait: per account and address, per address, per account. */
export const FAILURE_LIMITS = { pair: 5, address: 100, account: 100 } as const;
export const FAILURE_WINDOW_MS = 10 * 60_000;
/** How long an address stays known as one that the account's owner signs in from. */
const TRUSTED_MS = 7 * 24 * 3_600_000;

export type FailureKind = keyof typeof FAILURE_LIMITS;
/** What the failures of an attempt are counted under. */
export type FailureKeys = Readonly<Record<FailureKind, string>>;

/** The state of an attempt's counters: milliseconds to wait, 0 if none. */
export interface FailureState {
  readonly trusted: boolean;
  readonly pairMs: number;
  /** Does not apply where `trusted`. */
  readonly othersMs: number;
}

/** Failures counted for all machines of a fleet. Does not throw. */
export interface SharedFailures {
  /** Null if they cannot be had. */
  look(keys: FailureKeys): Promise<FailureState | null>;
  /** Resolves to whether the failure was counted. */
  failed(keys: FailureKeys): Promise<boolean>;
  succeeded(keys: FailureKeys): Promise<void>;
}

interface SharedFailuresParts {
  /** Failures of the other plane do not count, so that guesses at the portal never lock administrators out. */
  readonly plane: PagePlane;
  readonly run: (script: string, keys: readonly string[], args: readonly string[]) => Promise<unknown>;
  /** Hides what it is given, because a username may be a password that was typed into the wrong field. */
  readonly nameOf: (text: string) => string;
  /** Called when the store cannot be used and each machine counts for itself, and when it takes failures again. */
  readonly away: (error: Error) => void;
  readonly back: () => void;
}

/** KEYS: trusted, pair, address, account. ARGV: their limits. */
const LOOK = `
local function waits(key, most)
  if tonumber(redis.call('GET', key) or '0') < tonumber(most) then return 0 end
  return math.max(redis.call('PTTL', key), 1)
end
local others = math.max(waits(KEYS[3], ARGV[2]), waits(KEYS[4], ARGV[3]))
return { redis.call('EXISTS', KEYS[1]), waits(KEYS[2], ARGV[1]), others }
`;

/** KEYS: pair, address, account. ARGV: the length of a window. */
const FAILED = `
for _, key in ipairs(KEYS) do
  if redis.call('INCR', key) == 1 then redis.call('PEXPIRE', key, ARGV[1]) end
end
return 0
`;

/** KEYS: trusted, pair. ARGV: how long it is trusted. */
const SUCCEEDED = `
redis.call('DEL', KEYS[2])
redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])
return 0
`;

/** KEYS: a use. ARGV: the limit, the length of a window. */
const TAKE = `
if tonumber(redis.call('GET', KEYS[1]) or '0') >= tonumber(ARGV[1]) then return math.max(redis.call('PTTL', KEYS[1]), 1) end
if redis.call('INCR', KEYS[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
`;

/** KEYS: a use. */
const GIVE_BACK = `
if tonumber(redis.call('GET', KEYS[1]) or '0') > 0 then redis.call('DECR', KEYS[1]) end
return 0
`;

/** Failures and uses in Valkey. Attempts that machines run at the same moment are not held up by each other, so each gains one guess at most. */
export function sharedFailures({ plane, run, nameOf, away, back }: SharedFailuresParts): SharedFailures & { readonly uses: SharedUses } {
  let isAway = false;
  // One hash tag, so that a cluster has all of them on one node.
  const keyOf = (kind: FailureKind | "trusted" | AddressUse, text: string) => `gw:{logins}:${plane}:${kind}:${nameOf(text)}`;
  const runScript = async (script: string, keys: readonly string[], args: readonly number[]): Promise<unknown> => {
    try {
      const answer = await run(script, keys, args.map(String));
      // A server that is out of memory still answers reads.
      if (isAway && script !== LOOK) {
        isAway = false;
        back();
      }
      return answer;
    } catch (error) {
      if (!isAway) away(error as Error);
      isAway = true;
      return null;
    }
  };
  return {
    async look({ pair, address, account }) {
      const keys = [keyOf("trusted", pair), keyOf("pair", pair), keyOf("address", address), keyOf("account", account)];
      const limits = [FAILURE_LIMITS.pair, FAILURE_LIMITS.address, FAILURE_LIMITS.account];
      const answer = (await runScript(LOOK, keys, limits)) as [number, number, number] | null;
      return answer === null ? null : { trusted: Number(answer[0]) === 1, pairMs: Number(answer[1]), othersMs: Number(answer[2]) };
    },
    async failed({ pair, address, account }) {
      const keys = [keyOf("pair", pair), keyOf("address", address), keyOf("account", account)];
      return (await runScript(FAILED, keys, [FAILURE_WINDOW_MS])) !== null;
    },
    async succeeded({ pair }) {
      await runScript(SUCCEEDED, [keyOf("trusted", pair), keyOf("pair", pair)], [TRUSTED_MS]);
    },
    uses: {
      async take(use, network) {
        const { most, windowMs } = USE_LIMITS[use];
        const answer = await runScript(TAKE, [keyOf(use, network)], [most, windowMs]);
        return answer === null ? null : Number(answer);
      },
      async giveBack(use, network) {
        await runScript(GIVE_BACK, [keyOf(use, network)], []);
      },
    },
  };
}
