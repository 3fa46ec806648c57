import type { ComplianceItem, Framework } from "@gatehouse/contracts/compliance";
import { activity, classifiedSystems, healthAccess, recipients, type TableRow } from "../../store/compliance/compliance-facts.ts";
import { countNotices, euAiActItems, withDates } from "./eu-ai-act.ts";
import type { ComplianceFacts } from "./facts.ts";
import { isoItems } from "./iso-42001.ts";
import { gdprItems, hipaaItems } from "./items.ts";
import { soc2Items } from "./soc2.ts";

export interface ProgramFacts {
  readonly items: readonly ComplianceItem[];
  readonly table: readonly TableRow[];
}

/** One report program per framework, all over the same facts. */
export const COMPLIANCE_PROGRAMS: Readonly<Record<Framework, (facts: ComplianceFacts) => Promise<ProgramFacts>>> = {
  soc2: async (facts) => {
    const items = soc2Items(facts);
    return { items, table: items.map(({ control, title, status, reason }) => ({ control, title, status, reason })) };
  },
  eu_ai_act: async (facts) => {
    const systems = await classifiedSystems(facts.trx, facts.window);
    return { items: euAiActItems(facts, systems, await countNotices(facts)), table: withDates(systems) };
  },
  hipaa: async (facts) => {
    const { groups, table } = await healthAccess(facts.trx, facts.window);
    return { items: hipaaItems(facts, groups, table), table };
  },
  gdpr_art_30: async (facts) => {
    const table = await recipients(facts.trx, facts.window);
    return { items: gdprItems(facts, table), table };
  },
  iso_42001: async (facts) => {
    const table = await activity(facts.trx, facts.window);
    return { items: isoItems(facts), table };
  },
};
