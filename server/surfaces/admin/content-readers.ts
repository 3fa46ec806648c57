import type { Admin } from "../../directory/people/logins.ts";

/** Any of these allows reading tool arguments and document texts, which are otherwise protected like bodies of calls. */
export const CONTENT_READERS = ["tools:write", "proxy:logs:read_bodies"] as const;

export const readsContent = ({ permissions }: Pick<Admin, "permissions">): boolean =>
  CONTENT_READERS.some((permission) => permissions.has(permission));
