import type { ComplianceItem } from "@gatehouse/contracts/compliance";
import {
  changed,
  checkpointsOf,
  type ComplianceFacts,
  guarded,
  guardrailsOf,
  item,
  logged,
  logOf,
  NO_CALLS,
  NOT_FROM_HERE,
  noted,
  rowsOf,
  seen,
  signed,
} from "./facts.ts";

const UPSTREAMS = ["models", "providers", "mcp-servers", "agents", "agent-skills"];

/** All controls of Annex A by ID and title, since an auditor also asks about those not covered here. */
export function isoItems(facts: ComplianceFacts): ComplianceItem[] {
  const elsewhere = (control: string, title: string) => item(control, title, NOT_FROM_HERE);
  const logAbout = (control: string, title: string, ...resources: string[]) =>
    item(control, title, changed(facts, ...resources), logOf(facts, ...resources));
  const notedOf = (control: string, title: string, ...resources: string[]) =>
    item(control, title, noted(facts, ...resources), logOf(facts, ...resources));
  return [
    elsewhere("A.2.2", "AI policy"),
    elsewhere("A.2.3", "Alignment with other organizational policies"),
    elsewhere("A.2.4", "Review of the AI policy"),
    elsewhere("A.3.2", "AI roles and responsibilities"),
    elsewhere("A.3.3", "Reporting of concerns"),
    logAbout("A.4.2", "Resource documentation", ...UPSTREAMS),
    notedOf("A.4.3", "Data resources", "knowledgebases"),
    notedOf("A.4.4", "Tooling resources", "mcp-servers", "virtual-servers", "agent-skills"),
    notedOf("A.4.5", "System and computing resources", "providers", "models"),
    elsewhere("A.4.6", "Human resources"),
    elsewhere("A.5.2", "AI system impact assessment process"),
    elsewhere("A.5.3", "Documentation of AI system impact assessments"),
    elsewhere("A.5.4", "Assessing AI system impact on individuals or groups of individuals"),
    elsewhere("A.5.5", "Assessing societal impacts of AI systems"),
    elsewhere("A.6.1.2", "Objectives for responsible development of AI system"),
    elsewhere("A.6.1.3", "Processes for responsible AI system design and development"),
    elsewhere("A.6.2.2", "AI system requirements and specification"),
    elsewhere("A.6.2.3", "Documentation of AI system design and development"),
    elsewhere("A.6.2.4", "AI system verification and validation"),
    logAbout("A.6.2.5", "AI system deployment", "ai-systems", "ai-contracts"),
    item("A.6.2.6", "AI system operation and monitoring", logged(facts), rowsOf(facts, "calls"), rowsOf(facts, "failed")),
    notedOf("A.6.2.7", "AI system technical documentation", "ai-contracts"),
    item("A.6.2.8", "AI system recording of event logs", signed(facts), rowsOf(facts, "calls"), checkpointsOf(facts)),
    elsewhere("A.7.2", "Data for development and enhancement of AI system"),
    elsewhere("A.7.3", "Acquisition of data"),
    elsewhere("A.7.4", "Quality of data for AI systems"),
    elsewhere("A.7.5", "Data provenance"),
    elsewhere("A.7.6", "Data preparation"),
    elsewhere("A.8.2", "System documentation and information for users"),
    elsewhere("A.8.3", "External reporting"),
    notedOf("A.8.4", "Communication of incidents", "incident-windows"),
    elsewhere("A.8.5", "Information for interested parties"),
    elsewhere("A.9.2", "Processes for responsible use of AI systems"),
    elsewhere("A.9.3", "Objectives for responsible use of AI system"),
    item("A.9.4", "Intended use of the AI system", guarded(facts), guardrailsOf(facts), rowsOf(facts, "guarded")),
    elsewhere("A.10.2", "Allocating responsibilities"),
    item("A.10.3", "Suppliers", seen(facts.rows.models.count, "The rows name each provider called.", NO_CALLS), rowsOf(facts, "models")),
    elsewhere("A.10.4", "Customers"),
  ];
}
