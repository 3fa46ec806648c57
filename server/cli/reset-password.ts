import type { Database } from "../store/database.ts";
import { administratorCommand } from "./administrator-command.ts";
import type { CommandIo } from "./command-io.ts";

const USAGE = `Usage:
  gatehouse reset-password USERNAME [--tenant ID] [--database-url URL | --data-dir DIR]

Gives an administrator a new password, prints it once and ends their sessions, where no other administrator can do so in the console.
Without --tenant: of the system administrator with this name. The admin log gets an entry. The gateway may run meanwhile.
`;

export interface PasswordReset {
  readonly username: string;
  readonly password: string;
  /** Why the password alone does not sign them in. */
  readonly obstacle: "second_factor" | "inactive" | "passwords_off" | null;
}

/** Sets a new password. Null if there is no such administrator; a null tenant means system administrators. */
export type ResetPassword = (db: Database, tenantId: string | null, username: string) => Promise<PasswordReset | null>;

const OBSTACLE_TEXTS = {
  second_factor: "Signing in also takes their second factor: gatehouse reset-2fa switches that off.\n",
  inactive: "The account or its tenant is inactive: an administrator has to activate it before anybody signs in to it.\n",
  passwords_off:
    "Their tenant takes passwords of administrators with break_glass only: an owner grants that, or they use single sign-on.\n",
};

/** `gatehouse reset-password`. Resolves with the exit code; never throws. */
export function resetPasswordCommand(
  argv: string[],
  env: Readonly<Record<string, string | undefined>>,
  reset: ResetPassword,
  io: CommandIo,
): Promise<number> {
  const help = async (...whose: Parameters<ResetPassword>) => {
    const done = await reset(...whose);
    if (done === null) return null;
    const { username, password, obstacle } = done;
    return `The new password of ${username}, shown only once: ${password}\n${obstacle === null ? "" : OBSTACLE_TEXTS[obstacle]}`;
  };
  return administratorCommand({ name: "reset-password", usage: USAGE, help }, argv, env, io);
}
