import type { Call } from "../call.ts";

/** Removes the user and group from the row; they were needed only to admit and count the call. */
export function forgetCaller({ row }: Call): void {
  row.gateway_user_id = null;
  row.gateway_user_username = null;
  row.idp_user_id = null;
  row.idp_user_username = null;
  row.idp_user_email = null;
  row.subject_id = null;
  row.subject_kind = null;
  row.resource_group_id = null;
}
