import type { ContractState } from "@gatehouse/contracts/ai-contracts";

/** What can be done to a version of a contract. */
export type ContractMove = "propose" | "approve" | "reject" | "withdraw" | "promote" | "revoke";

/** From which states, and to which. A version that was superseded is promoted again as a new version of the same text. */
const MOVES: Record<ContractMove, { readonly from: readonly ContractState[]; readonly to: ContractState }> = {
  propose: { from: ["draft"], to: "proposed" },
  approve: { from: ["proposed"], to: "approved" },
  reject: { from: ["proposed"], to: "rejected" },
  withdraw: { from: ["draft", "proposed"], to: "withdrawn" },
  promote: { from: ["approved"], to: "active" },
  revoke: { from: ["approved", "active"], to: "revoked" },
};

/** The state a move leads to; null where it cannot be made. */
export function afterMove(state: ContractState, move: ContractMove): ContractState | null {
  return MOVES[move].from.includes(state) ? MOVES[move].to : null;
}

/** What can be done to a version in this state. */
export const movesFrom = (state: ContractState): ContractMove[] =>
  (Object.keys(MOVES) as ContractMove[]).filter((move) => MOVES[move].from.includes(state));
