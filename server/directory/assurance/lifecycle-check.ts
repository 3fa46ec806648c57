import type { Requirement } from "@gatehouse/contracts/ai-systems";
import type { AiSystemRow } from "../../store/assurance/ai-systems.ts";
import type { Database, Trx } from "../../store/database.ts";

interface LifecycleFacts {
  readonly db: Database | Trx;
  readonly row: AiSystemRow;
  readonly now: Date;
}

export type LifecycleCheck = (facts: LifecycleFacts) => Requirement | Promise<Requirement>;

export const lifecycleRequirement = (id: string, title: string, met: boolean, detail: string): Requirement => ({ id, title, met, detail });
