import type { Database } from "../store/database.ts";
import { administratorCommand } from "./administrator-command.ts";
import type { CommandIo } from "./command-io.ts";

const USAGE = `Usage:
  gatehouse reset-2fa USERNAME [--tenant ID] [--database-url URL | --data-dir DIR]

Switches the second factor of an administrator off and ends their sessions, where no other administrator can do so in the console.
Without --tenant: of the system administrator with this name. The admin log gets an entry. The gateway may run meanwhile.
`;

/** Resets a second factor. Null if there is no such administrator; a null tenant means system administrators. */
export type ResetFactor = (
  db: Database,
  tenantId: string | null,
  username: string,
) => Promise<{ readonly outcome: "reset" | "had_none"; readonly username: string } | null>;

const OUTCOME_TEXTS = {
  reset: (name: string) =>
    `The second factor of ${name} is off and their sessions are ended. They sign in with their password and can set it up again.`,
  had_none: (name: string) => `${name} has no second factor. Nothing was changed.`,
};

/** `gatehouse reset-2fa`. Resolves with the exit code; never throws. */
export function resetFactorCommand(
  argv: string[],
  env: Readonly<Record<string, string | undefined>>,
  reset: ResetFactor,
  io: CommandIo,
): Promise<number> {
  const help = async (...whose: Parameters<ResetFactor>) => {
    const done = await reset(...whose);
    return done === null ? null : `${OUTCOME_TEXTS[done.outcome](done.username)}\n`;
  };
  return administratorCommand({ name: "reset-2fa", usage: USAGE, help }, argv, env, io);
}
