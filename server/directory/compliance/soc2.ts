import type { ComplianceEvidence, ComplianceItem } from "@gatehouse/contracts/compliance";
import {
  changed,
  checkpointsOf,
  type ComplianceFacts,
  guarded,
  guardrailsOf,
  item,
  type JudgedItem,
  logged,
  logOf,
  NO_CALLS,
  noted,
  regions,
  residency,
  retentionOf,
  rowsOf,
  seen,
  signed,
} from "./facts.ts";

const PEOPLE = ["end-users", "end-user-groups", "admin-users", "api-keys", "scim-tokens"];
/** Percentages of failed calls above which availability is in doubt, and not met. */
const DOUBTFUL_PERCENT = 1;
const FAILING_PERCENT = 5;

const configured = (ref: string, count: number): ComplianceEvidence => ({ kind: "configuration", ref, count });

function access({ rows, standing }: ComplianceFacts): JudgedItem {
  if (rows.calls.count === 0) return ["no_data", NO_CALLS];
  const wanting = [
    ...(rows.anonymous.count > 0 ? [`${rows.anonymous.count} calls were served to nobody that is known`] : []),
    ...(standing.adminsWithoutSecondFactor > 0
      ? [`${standing.adminsWithoutSecondFactor} of ${standing.admins} administrators sign in with a password alone`]
      : []),
  ];
  if (wanting.length > 0) return ["partial", `${wanting.join("; ")}.`];
  const named = "Every call that was served names who made it";
  return [
    "met",
    standing.admins === 0
      ? `${named}; the tenant has no administrators of its own.`
      : `${named}, and no administrator signs in with a password alone.`,
  ];
}

function capacity({ rows, standing }: ComplianceFacts): JudgedItem {
  if (rows.calls.count === 0) return ["no_data", NO_CALLS];
  if (standing.limits === 0) return ["not_met", "No limit is set: nothing keeps one caller from using up what all need."];
  return ["met", `Limits hold what a caller may use; they refused ${rows.limited.count} of ${rows.calls.count} calls.`];
}

function availability({ rows }: ComplianceFacts): JudgedItem {
  const { calls, failed, interrupted } = rows;
  if (calls.count === 0) return ["no_data", NO_CALLS];
  const percent = ((failed.count + interrupted.count) / calls.count) * 100;
  const failureText = `${failed.count} of ${calls.count} calls failed and ${interrupted.count} were cut off because a process ended; backups are not seen from here.`;
  return [percent > FAILING_PERCENT ? "not_met" : percent > DOUBTFUL_PERCENT || interrupted.count > 0 ? "partial" : "met", failureText];
}

function confidential({ rows }: ComplianceFacts): JudgedItem {
  const { calls, lookedFor: inspectedCalls, personal, withheld } = rows;
  if (calls.count === 0) return ["no_data", NO_CALLS];
  if (inspectedCalls.count === 0) return ["not_met", "No call was looked through for personal data."];
  const inspectionText = `${inspectedCalls.count} of ${calls.count} calls were looked through; of ${personal.count} in which personal data was found, ${withheld.count} were blocked or redacted.`;
  return [inspectedCalls.count === calls.count && withheld.count === personal.count ? "met" : "partial", inspectionText];
}

function disposal({ rows, standing, tenant }: ComplianceFacts): JudgedItem {
  const { overdueRows, overdueBodies } = standing;
  if (overdueRows + overdueBodies > 0)
    return ["not_met", `${overdueRows} rows and the bodies of ${overdueBodies} are held longer than they are to be kept.`];
  if (rows.pruned.count + rows.erased.count === 0) return ["no_data", "Nothing of the window has come of age or was erased."];
  const { body_days: days } = tenant.data_retention;
  return [
    "met",
    `Nothing is held longer than it is to be kept (bodies ${days} days); bodies of ${rows.pruned.count} rows and people of ${rows.erased.count} are gone.`,
  ];
}

export function soc2Items(facts: ComplianceFacts): ComplianceItem[] {
  const { rows, standing } = facts;
  const given = logOf(facts, ...PEOPLE);
  return [
    item(
      "CC6.1",
      "Logical access",
      access(facts),
      rowsOf(facts, "calls"),
      rowsOf(facts, "denied"),
      rowsOf(facts, "anonymous"),
      configured("admin-users without second factor", standing.adminsWithoutSecondFactor),
      configured("api-keys without end", standing.endlessKeys),
    ),
    item("CC6.2, CC6.3", "Access is granted and removed", seen(given.count, "Changes of who has access are logged.", "No change."), given),
    item("CC6.6", "Protection at the boundary", guarded(facts), guardrailsOf(facts), rowsOf(facts, "guarded")),
    item("CC6.7", "Movement of information", regions(facts), ...residency(facts)),
    item("CC7.1, CC7.2", "Monitoring", signed(facts), checkpointsOf(facts), rowsOf(facts, "calls")),
    item(
      "CC7.3, CC7.4",
      "Incidents are evaluated and answered",
      noted(facts, "incident-windows", "drift-findings"),
      logOf(facts, "incident-windows", "drift-findings"),
    ),
    item("CC8.1", "Changes are managed", changed(facts), logOf(facts)),
    item("CC9.2", "Vendors", seen(rows.models.count, "The rows name the provider of each call.", NO_CALLS), rowsOf(facts, "models")),
    item("A1.1", "Capacity is planned and watched", capacity(facts), configured("limits", standing.limits), rowsOf(facts, "limited")),
    item(
      "A1.2",
      "Calls are answered, and what is interrupted is recovered",
      availability(facts),
      rowsOf(facts, "failed"),
      rowsOf(facts, "interrupted"),
    ),
    item(
      "C1.1",
      "Confidential information is found and protected",
      confidential(facts),
      rowsOf(facts, "lookedFor"),
      rowsOf(facts, "personal"),
      rowsOf(facts, "withheld"),
    ),
    item(
      "C1.2",
      "Confidential information is disposed of",
      disposal(facts),
      retentionOf(facts),
      rowsOf(facts, "pruned"),
      rowsOf(facts, "erased"),
      configured("rows overdue", standing.overdueRows),
      configured("bodies overdue", standing.overdueBodies),
      logOf(facts, "data-erasure"),
    ),
    item(
      "PI1.2-PI1.5",
      "Processing is complete and accurate",
      rows.unpriced.count > 0 ? ["partial", "Some rows with tokens have no price."] : logged(facts),
      rowsOf(facts, "unpriced"),
    ),
  ];
}
