import type { ContractState } from "@gatehouse/contracts/ai-contracts";

/** What can be done to a contract version. */
export type ContractMove = "propose" | "approve" | "reject" | "withdraw" | "promote" | "revoke";

/** The states each move starts from and leads to. A superseded version is promoted again as a new version of the same text. */
const MOVES: Record<ContractMove, { readonly from: readonly ContractState[]; readonly to: ContractState }> = {
  propose: { from: ["draft"], to: "proposed" },
  approve: { from: ["proposed"], to: "approved" },
  reject: { from: ["proposed"], to: "rejected" },
  withdraw: { from: ["draft", "proposed"], to: "withdrawn" },
  promote: { from: ["approved"], to: "active" },
  revoke: { from: ["approved", "active"], to: "revoked" },
};

/** The state that a move leads to; null if the move is not possible. */
export function afterMove(state: ContractState, move: ContractMove): ContractState | null {
  return MOVES[move].from.includes(state) ? MOVES[move].to : null;
}

/** The moves that are possible in this state. */
export const movesFrom = (state: ContractState): ContractMove[] =>
  (Object.keys(MOVES) as ContractMove[]).filter((move) => MOVES[move].from.includes(state));
