import type { Call } from "../call.ts";

/** Takes off the row which person calls, and in which group: it was needed to let them in, and to count how often they come. */
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
