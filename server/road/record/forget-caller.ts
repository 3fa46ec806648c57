import type { Call } from "../call.ts";

/** Removes the person and their group from the row; both were needed only to admit the call and to count it. */
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
