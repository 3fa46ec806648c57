import type { Admin } from "../../directory/people/logins.ts";

/** What tools are told and documents say is, for who works with neither, as the body of a call. */
export const CONTENT_READERS = ["tools:write", "proxy:logs:read_bodies"] as const;

export const readsContent = ({ permissions }: Pick<Admin, "permissions">): boolean =>
  CONTENT_READERS.some((permission) => permissions.has(permission));
