import type { ArgumentPolicyRecord } from "@gatehouse/contracts/argument-policies";
import type { ArgumentPolicyRow } from "../../store/argument-policies.ts";
import { readArgumentPolicy } from "./argument-policies.ts";

/** An argument policy as a snapshot holds it. */
export interface ArgumentPolicyEntry {
  /** Null: every group. */
  readonly groupIds: readonly string[] | null;
  readonly policy: ArgumentPolicyRecord;
}

export function argumentPolicyEntries(rows: readonly ArgumentPolicyRow[]): ArgumentPolicyEntry[] {
  return rows.map((row) => ({ groupIds: row.group_ids, policy: readArgumentPolicy(row) }));
}
