import { RemoteCounters } from "../controls/limits/counters/remote-counters.ts";
import { remoteUses } from "../directory/people/address-throttle.ts";
import { remoteAttempts } from "../directory/people/shared-login-throttle.ts";
import type { ProcessGroup } from "./process-group.ts";
import type { ProcessChannel } from "../runtime/process-channel.ts";

export interface MemberSettings {
  readonly number: number;
  readonly size: number;
  /** Its environment, as input to `readConfiguration`. */
  readonly env: Readonly<Record<string, string>>;
  /** The data directory of the first process. */
  readonly homeDir: string;
}

/** A further process of a group, as started by the first one. `stopAsked` is called with the drain time in seconds. */
export function memberProcess(
  channel: ProcessChannel,
  { number, size, homeDir }: MemberSettings,
  stopRequested: (drainSeconds: number) => void,
): ProcessGroup {
  const logins = remoteAttempts(channel);
  const nothing = () => Promise.resolve();
  return {
    size,
    number,
    port: "joined",
    homeDir,
    counters: () => new RemoteCounters(channel),
    logins: () => logins.attempts,
    uses: () => remoteUses(channel),
    shipped: () => channel.ask("shipped").then(() => undefined),
    caughtUp: nothing,
    figures: () => Promise.resolve([]),
    others: () => [],
    start(_settings, self) {
      channel.answer({
        ...logins.answerers,
        figures: () => self.figures(),
        caughtUp: () => self.caughtUp(),
        shipped: () => self.shipped(),
        leave: () => self.leave(),
        stop: stopRequested,
      });
      return Promise.resolve();
    },
    leave() {},
    stop: () => Promise.resolve(null),
  };
}
