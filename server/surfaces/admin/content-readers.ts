import type { Admin } from "../../directory/people/logins.ts";

/** Whoever does not manage tools may read their arguments, and what documents say, only with the permission to read bodies of calls. */
export const CONTENT_READERS = ["tools:write", "proxy:logs:read_bodies"] as const;

export const readsContent = ({ permissions }: Pick<Admin, "permissions">): boolean =>
  CONTENT_READERS.some((permission) => permissions.has(permission));
