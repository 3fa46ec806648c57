import { expect, test } from "bun:test";
import { CONTRACT_STATES, type ContractState } from "@gatehouse/contracts/ai-contracts";
import { LIFECYCLE_STATES, type LifecycleState } from "@gatehouse/contracts/ai-systems";
import fc from "fast-check";
import { afterMove, type ContractMove, movesFrom } from "./contract-states.ts";
import { nextStates } from "./lifecycle-states.ts";

const MOVES: readonly ContractMove[] = ["propose", "approve", "reject", "withdraw", "promote", "revoke"];

/** Derived from the guide rather than from the transition table: what must never happen, whatever moves are tried in whatever order. */
test("a contract becomes active only after approval, and never leaves a final state", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...MOVES), { maxLength: 30 }), (tried) => {
      let state: ContractState = "draft";
      const been: ContractState[] = [state];
      for (const move of tried) {
        const next = afterMove(state, move);
        expect(next !== null).toBe(movesFrom(state).includes(move));
        if (next === null) continue;
        expect(["rejected", "withdrawn", "revoked", "superseded"]).not.toContain(state);
        state = next;
        been.push(state);
      }
      if (been.includes("active")) expect(been.slice(0, been.indexOf("active"))).toEqual(["draft", "proposed", "approved"]);
      expect(CONTRACT_STATES).toContain(state);
    }),
    { numRuns: 100_000 },
  );
});

test("an AI System is assessed and approved before it is in service, and never leaves retirement", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...LIFECYCLE_STATES), { maxLength: 30 }), (tried) => {
      const been: LifecycleState[] = ["registered"];
      for (const to of tried) {
        const state = been.at(-1) as LifecycleState;
        if (!nextStates(state).includes(to)) continue;
        expect(state).not.toBe("retired");
        been.push(to);
      }
      const served = been.indexOf("in_service");
      if (served > 0 && !been.slice(0, served).includes("suspended"))
        expect(been.slice(0, served)).toEqual(["registered", "assessed", "approved"]);
      if (been.includes("restricted")) expect(been.slice(0, been.indexOf("restricted"))).toContain("in_service");
    }),
    { numRuns: 100_000 },
  );
});
