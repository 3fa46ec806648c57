import { randomBytes } from "node:crypto";
import { systemClock } from "../../kernel/clock.ts";
import { secretBox } from "../../kernel/secrets.ts";
import type { Database } from "../../store/database.ts";
import type { Actor, Directory } from "../writes/write.ts";

/** Whoever has the database, at the command line. */
export const OPERATOR: Actor = { id: null, username: null, role: null, clientIp: null, requestId: null };

/** For changes that encrypt nothing; one that sets a password brings its own `hashPassword`. */
export function operatorDirectory(db: Database): Directory {
  return {
    ...{ db, clock: systemClock(), fallbackJudge: null },
    secrets: secretBox(randomBytes(32)),
    hashPassword: () => Promise.reject(new Error("no password is set here")),
  };
}
