import type { EndUser } from "@gatehouse/contracts/end-users";
import { csvCell } from "../../kernel/text/csv.ts";
import { endUsersAfter } from "../../store/people/end-users.ts";
import type { Directory } from "../writes/write.ts";
import { readEndUser } from "./end-user-record.ts";

const AT_ONCE = 1_000;
const COLUMNS = [
  "id",
  "username",
  "email",
  "display_name",
  "is_active",
  "is_verified",
  "totp_enabled",
  "primary_group_id",
  "last_login",
  "created_at",
] as const satisfies readonly (keyof EndUser)[];

async function* allOf(directory: Directory, tenantId: string): AsyncGenerator<EndUser[]> {
  let after: string | null = null;
  for (;;) {
    const rows = await endUsersAfter(directory.db, tenantId, after, AT_ONCE);
    if (rows.length > 0) yield rows.map(readEndUser);
    const last = rows.at(-1);
    if (last === undefined || rows.length < AT_ONCE) return;
    after = last.id;
  }
}

/** Every end user of the tenant as CSV (RFC 4180) with a header line, in chunks. */
export async function* endUsersAsCsv(directory: Directory, tenantId: string): AsyncGenerator<string> {
  yield `${COLUMNS.join(",")}\r\n`;
  for await (const users of allOf(directory, tenantId))
    yield users.map((user) => `${COLUMNS.map((column) => csvCell(user[column])).join(",")}\r\n`).join("");
}

/** Every end user of the tenant as `{users: [...]}`, in chunks. */
export async function* endUsersAsJson(directory: Directory, tenantId: string): AsyncGenerator<string> {
  yield '{"users":[';
  let separator = "";
  for await (const users of allOf(directory, tenantId)) {
    yield separator + users.map((user) => JSON.stringify(user)).join(",");
    separator = ",";
  }
  yield "]}";
}
