import type { AiSystemOnBoard, Gap } from "@gatehouse/contracts/ai-systems";
import type { AiSystemRow } from "../../store/assurance/ai-systems.ts";
import type { Directory } from "../writes/write.ts";
import { waitsForApproval } from "./contracts.ts";
import { requirementsOf } from "./lifecycle-requirements.ts";

const IN_USE = new Set(["in_service", "restricted"]);

/** What a system's governance lacks. `calls`: its recent number of calls. */
export async function gapsOf(
  directory: Directory,
  row: AiSystemRow,
  contract: AiSystemOnBoard["contract"],
  calls: number,
  now: Date,
): Promise<Gap[]> {
  if (row.lifecycle_state === "retired") return [];
  const gaps: Gap[] = [];
  for (const state of ["assessed", "approved"] as const) {
    for (const { id, title, met, detail } of await requirementsOf(directory.db, row, state, now))
      if (!met) gaps.push({ id, title: `Missing: ${title.charAt(0).toLowerCase()}${title.slice(1)}`, detail });
  }
  if (contract === null)
    gaps.push({
      id: "no_contract",
      title: "No contract is in force",
      detail: "Mint a contract, have somebody else approve it, and promote it.",
    });
  else if (!contract.conforms)
    gaps.push({
      id: "contract_drift",
      title: "The configuration is not what its contract says",
      detail: "Compare the contract with `live`: put back what changed, or mint a new version.",
    });
  if (await waitsForApproval(directory.db, row.tenant_id, row.id))
    gaps.push({
      id: "approval_waits",
      title: "A contract waits for approval",
      detail: "Somebody other than its author reviews and approves or rejects it.",
    });
  if (calls > 0 && !IN_USE.has(row.lifecycle_state) && row.lifecycle_state !== "suspended")
    gaps.push({
      id: "called_before_service",
      title: "It is called and not in service",
      detail: "Take it through its lifecycle to in_service, or suspend it.",
    });
  return gaps;
}
