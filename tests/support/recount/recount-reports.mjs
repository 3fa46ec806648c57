import { readFileSync } from "node:fs";

/**
 * Recomputes every number of every compliance report from an export of the rows, the admin log and the checkpoints. Needs only Node and
 * imports nothing of the gateway, so the computations are independent.
 *
 * `node recount-reports.mjs FOLDER` reads `rows.jsonl`, `log.json`, `checkpoints.json`, `configuration.json` and `reports.json` from the
 * folder, prints `{counted, nonzero, differences}`, and exits with 0 if nothing differs. A number in a report without a rule here is a
 * difference.
 */

const folder = process.argv[2];
const file = (name) => readFileSync(`${folder}/${name}`, "utf8");
const configuration = JSON.parse(file("configuration.json"));
const reports = JSON.parse(file("reports.json"));
const from = Date.parse(configuration.from);
const to = Date.parse(configuration.to);

// The time in a ULID: its first ten characters, base 32.
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const timeOf = (id) => [...id.slice(0, 10)].reduce((sum, digit) => sum * 32 + DIGITS.indexOf(digit), 0);
const lines = (text) =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

const allRows = lines(file("rows.jsonl")).filter(({ tenant_id: tenant }) => tenant === configuration.tenant_id);
// A span of a call that went through the gateway would count that call twice.
const rows = allRows.filter(
  ({ id, custom_metadata: more }) => timeOf(id) >= from && timeOf(id) < to && (more?.joined_row_id ?? null) === null,
);
const log = JSON.parse(file("log.json")).filter(({ at }) => Date.parse(at) >= from && Date.parse(at) < to);
const checkpoints = JSON.parse(file("checkpoints.json")).filter((time) => Date.parse(time) >= from && Date.parse(time) < to).length;

const none = (value) => value === null || value === undefined;
const least = (ids) => [...ids].sort()[0] ?? null;
const rowsWhere = (fits) => {
  const found = rows.filter(fits);
  return { kind: "audit_rows", ref: least(found.map(({ id }) => id)), count: found.length };
};
const entriesOf = (...resources) => {
  const found = log.filter(({ resource }) => resources.length === 0 || resources.includes(resource));
  return { kind: "admin_log", ref: least(found.map(({ id }) => id)), count: found.length };
};
const setting = (ref, count) => ({ kind: "configuration", ref, count });

const is = {
  call: () => true,
  denied: (row) => row.http_status_code === 401 || row.http_status_code === 403,
  anonymous: (row) =>
    none(row.gateway_user_id) &&
    none(row.api_key_id) &&
    none(row.subject_id) &&
    none(row.erased_at) &&
    row.http_status_code < 400 &&
    !["portal", "oauth"].includes(row.proxy_type) &&
    !["agent_card", "agent_keys"].includes(row.proxy_subtype),
  guarded: (row) => !none(row.guardrail_check) || row.guardrail_blocked === true,
  approved: (row) => !none(row.consumed_approval_request_id),
  allowed: (row) => row.residency_class === "allowed",
  blocked: (row) => row.residency_class === "blocked",
  unknown: (row) => row.residency_class === "not_evaluated",
  personal: (row) => row.pii_detected === true,
  lookedFor: (row) => !none(row.pii_detected),
  withheld: (row) => row.pii_detected === true && ["block", "redact"].includes(row.guardrail_action),
  failed: (row) =>
    row.http_status_code >= 500 ||
    (row.error_type === "upstream_rejected" && row.http_status_code === 429) ||
    (row.success === false &&
      [
        "internal_error",
        "upstream_interrupted",
        "upstream_timeout",
        "upstream_unreachable",
        "upstream_overloaded",
        "upstream_invalid_response",
      ].includes(row.error_type)),
  limited: (row) =>
    ["rate_limit_exceeded", "usage_limit_reached", "run_ceiling_reached", "tool_call_limit_exceeded"].includes(row.error_type),
  interrupted: (row) => row.error_type === "gateway_interrupted",
  model: (row) => !none(row.llm_model_used),
  unpriced: (row) => row.llm_total_tokens > 0 && none(row.llm_estimated_cost_usd),
  pruned: (row) => !none(row.bodies_pruned_at),
  erased: (row) => !none(row.erased_at),
  received: (row) =>
    !none(row.llm_provider) ||
    (!none(row.server_id) && !["oauth", "skill"].includes(row.proxy_type) && (!none(row.target_url) || row.source === "otel")),
};
const RESIDENCY = [is.allowed, is.blocked, is.unknown].map(rowsWhere);
const CHECKPOINTS = { kind: "checkpoints", ref: "all chains", count: checkpoints };
const GUARDRAILS = setting("guardrail-configs", configuration.guardrails.filter(({ enabled }) => enabled).length);
const KEPT = { kind: "retention", ref: "data_retention.log_days", count: configuration.tenant.data_retention.log_days };
const DAY = 86_400_000;
const { log_days: logDays, body_days: bodyDays } = configuration.tenant.data_retention;
const late = (days) => allRows.filter(({ id }) => timeOf(id) < to - (days + 1) * DAY);

// Groups with health information, and all groups below them.
const phi = new Set(configuration.groups.filter(({ phi_resource: own }) => own).map(({ id }) => id));
for (let grew = true; grew;) {
  const before = phi.size;
  for (const { id, parent_group_id: parent } of configuration.groups) if (phi.has(parent)) phi.add(id);
  grew = phi.size > before;
}
const health = (row) => phi.has(row.resource_group_id);
// A group without a risk tier inherits that of its nearest ancestor.
const groupOf = new Map(configuration.groups.map((group) => [group.id, group]));
const nearestTier = (group) =>
  group === undefined ? null : (group.eu_ai_act_risk_tier ?? nearestTier(groupOf.get(group.parent_group_id)));
const tierOf = new Map(configuration.groups.map((group) => [group.id, nearestTier(group)]));
const ofTier = (tier) => (row) => tierOf.has(row.resource_group_id) && tierOf.get(row.resource_group_id) === tier;

// A conversation counts if its first answer falls into the window, and as informed if a notice precedes it.
function conversations() {
  const first = new Map();
  const notices = new Map();
  for (const row of [...allRows].sort((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : a.id < b.id ? -1 : 1))) {
    const handle = row.custom_metadata?.conversation_handle;
    if (none(handle)) continue;
    if (row.proxy_type === "portal" && row.proxy_subtype === "notice" && row.success && !none(row.custom_metadata.action_record))
      notices.set(handle, [...(notices.get(handle) ?? []), row]);
    else if (row.proxy_type === "llm" && configuration.turns.includes(row.proxy_subtype) && row.http_status_code < 400)
      if (!first.has(handle)) first.set(handle, row);
  }
  const turns = [...first].filter(([, { timestamp }]) => Date.parse(timestamp) >= from && Date.parse(timestamp) < to);
  const inTime = (turn) => (notice) =>
    notice.timestamp < turn.timestamp && (notice.chain_id !== turn.chain_id || notice.chain_seq < turn.chain_seq);
  return turns.filter(([handle, turn]) => (notices.get(handle) ?? []).some(inTime(turn))).length;
}

/** The evidence behind each item, in order. */
const EVIDENCE = {
  soc2: {
    "CC6.1": [
      rowsWhere(is.call),
      rowsWhere(is.denied),
      rowsWhere(is.anonymous),
      setting("admin-users without second factor", configuration.admins.filter((one) => one.is_active && !one.totp_enabled).length),
      setting("api-keys without end", configuration.keys.filter((key) => none(key.revoked_at) && none(key.expires_at)).length),
    ],
    "CC6.2, CC6.3": [entriesOf("end-users", "end-user-groups", "admin-users", "api-keys", "scim-tokens")],
    "CC6.6": [GUARDRAILS, rowsWhere(is.guarded)],
    "CC6.7": RESIDENCY,
    "CC7.1, CC7.2": [CHECKPOINTS, rowsWhere(is.call)],
    "CC7.3, CC7.4": [entriesOf("incident-windows", "drift-findings")],
    "CC8.1": [entriesOf()],
    "CC9.2": [rowsWhere(is.model)],
    "A1.1": [setting("limits", configuration.limits), rowsWhere(is.limited)],
    "A1.2": [rowsWhere(is.failed), rowsWhere(is.interrupted)],
    "C1.1": [rowsWhere(is.lookedFor), rowsWhere(is.personal), rowsWhere(is.withheld)],
    "C1.2": [
      KEPT,
      rowsWhere(is.pruned),
      rowsWhere(is.erased),
      setting("rows overdue", late(logDays).length),
      setting("bodies overdue", late(bodyDays).filter((row) => none(row.bodies_pruned_at)).length),
      entriesOf("data-erasure"),
    ],
    "PI1.2-PI1.5": [rowsWhere(is.unpriced)],
  },
  eu_ai_act: {
    "Article 4": [],
    "Article 5": [rowsWhere(ofTier("prohibited"))],
    "Article 6": [rowsWhere(ofTier(null)), entriesOf("resource-groups")],
    "Article 9, 15": [GUARDRAILS, rowsWhere(is.guarded)],
    "Article 12": [rowsWhere(is.call), CHECKPOINTS],
    "Article 13": [entriesOf("ai-contracts")],
    "Article 14": [rowsWhere(is.approved)],
    "Article 19, 26(6)": [KEPT],
    "Article 26": [],
    "Article 27": [],
    "Article 50(1)": [{ kind: "notices", ref: "/v1/admin/notice-config/statement", count: conversations() }],
    "Article 50(2)": [rowsWhere(is.model)],
    "Article 72": [entriesOf("drift-findings", "incident-windows")],
    "Article 73": [entriesOf("incident-windows")],
  },
  hipaa: {
    "164.312(a)(2)(i)": [rowsWhere(health), rowsWhere((row) => health(row) && none(row.gateway_user_id))],
    "164.312(a)(2)(ii)": [],
    "164.312(a)(2)(iii)": [],
    "164.312(a)(2)(iv)": [],
    "164.312(b)": [rowsWhere(health)],
    "164.312(c)(1)": [CHECKPOINTS],
    "164.312(d)": [rowsWhere(is.denied)],
    "164.312(e)(1)": [],
    "164.316(b)(2)": [KEPT],
  },
  gdpr_art_30: {
    "Article 30(1)(a)": [],
    "Article 30(1)(b)": [],
    "Article 30(1)(c)": [rowsWhere(is.personal)],
    "Article 30(1)(d)": [rowsWhere(is.received)],
    "Article 30(1)(e)": RESIDENCY,
    "Article 30(1)(f)": [KEPT, entriesOf("data-erasure")],
    "Article 30(1)(g)": [GUARDRAILS, CHECKPOINTS],
  },
  iso_42001: {
    "A.2.2": [],
    "A.2.3": [],
    "A.2.4": [],
    "A.3.2": [],
    "A.3.3": [],
    "A.4.2": [entriesOf("models", "providers", "mcp-servers", "agents", "agent-skills")],
    "A.4.3": [entriesOf("knowledgebases")],
    "A.4.4": [entriesOf("mcp-servers", "virtual-servers", "agent-skills")],
    "A.4.5": [entriesOf("providers", "models")],
    "A.4.6": [],
    "A.5.2": [],
    "A.5.3": [],
    "A.5.4": [],
    "A.5.5": [],
    "A.6.1.2": [],
    "A.6.1.3": [],
    "A.6.2.2": [],
    "A.6.2.3": [],
    "A.6.2.4": [],
    "A.6.2.5": [entriesOf("ai-systems", "ai-contracts")],
    "A.6.2.6": [rowsWhere(is.call), rowsWhere(is.failed)],
    "A.6.2.7": [entriesOf("ai-contracts")],
    "A.6.2.8": [rowsWhere(is.call), CHECKPOINTS],
    "A.7.2": [],
    "A.7.3": [],
    "A.7.4": [],
    "A.7.5": [],
    "A.7.6": [],
    "A.8.2": [],
    "A.8.3": [],
    "A.8.4": [entriesOf("incident-windows")],
    "A.8.5": [],
    "A.9.2": [],
    "A.9.3": [],
    "A.9.4": [GUARDRAILS, rowsWhere(is.guarded)],
    "A.10.2": [],
    "A.10.3": [rowsWhere(is.model)],
    "A.10.4": [],
  },
};

/** Groups rows by the columns of a table: one line per combination, with its number of calls, first and last. */
function grouped(found, keys) {
  const lined = new Map();
  for (const row of found) {
    const line = Object.fromEntries(Object.entries(keys).map(([name, value]) => [name, value(row) ?? null]));
    const name = JSON.stringify(line);
    lined.set(name, { line, ids: [...(lined.get(name)?.ids ?? []), row.id] });
  }
  return [...lined.values()].map(({ line, ids }) => ({ ...line, calls: ids.length, first_row: least(ids), last_row: ids.sort().at(-1) }));
}
const kindOf = (row) => (none(row.server_id) ? "provider" : row.proxy_type === "a2a" ? "agent" : "tool_server");
const APPLIES = { prohibited: "2025-02-02", high: "2027-12-02", limited: "2026-08-02" };
const nameOf = new Map(configuration.groups.map(({ id, name }) => [id, name]));
const without = (name, lined) => lined.map(({ [name]: _left, ...line }) => line);

const TABLES = {
  eu_ai_act: configuration.groups.map(({ id, name, lifecycle_state: state }) => {
    const tier = tierOf.get(id);
    const own = rows.filter(({ resource_group_id: group }) => group === id);
    return {
      group_id: id,
      group_name: name,
      risk_tier: tier,
      lifecycle_state: state ?? null,
      applies_from: APPLIES[tier] ?? null,
      calls: own.length,
      first_row: least(own.map((row) => row.id)),
    };
  }),
  hipaa: grouped(rows.filter(health), {
    group_id: (row) => row.resource_group_id,
    group_name: (row) => nameOf.get(row.resource_group_id),
    user_id: (row) => row.gateway_user_id,
    username: (row) => row.gateway_user_username,
    api_key_id: (row) => row.api_key_id,
  }),
  gdpr_art_30: without(
    "last_row",
    grouped(rows.filter(is.received), {
      kind: kindOf,
      recipient: (row) => row.server_id ?? row.llm_provider,
      model: (row) => row.llm_model_used,
      region: (row) => row.region_routed_to,
      residency_class: (row) => row.residency_class,
    }),
  ),
  iso_42001: without("last_row", grouped(rows, { proxy_type: (row) => row.proxy_type, success: (row) => row.success ?? false })),
};
const PLACES = grouped(
  rows.filter((row) => row.source !== "otel" && row.llm_cache_hit !== true && (is.received(row) || is.blocked(row))),
  {
    region: (row) => row.region_routed_to,
    residency_class: (row) => row.residency_class,
    kind: (row) => (is.blocked(row) ? "nobody" : kindOf(row)),
    recipient: (row) => (is.blocked(row) ? null : (row.server_id ?? row.llm_provider)),
    model: (row) => row.llm_model_used,
  },
);

// Further numbers that reasons mention, besides the evidence counts.
const callers = configuration.groups.filter(({ id }) => rows.some((row) => row.resource_group_id === id));
const WORDED = [rows.length, callers.length, callers.filter(({ id }) => none(tierOf.get(id))).length];

const differences = [];
let counted = 0;
let nonzero = 0;
const sorted = (value) =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(
          Object.keys(value)
            .sort()
            .map((name) => [name, sorted(value[name])]),
        )
      : value;
const text = (value) => JSON.stringify(sorted(value));
function numbersIn(value) {
  if (typeof value === "number") {
    counted += 1;
    if (value !== 0) nonzero += 1;
  } else if (typeof value === "object" && value !== null) for (const member of Object.values(value)) numbersIn(member);
}
function same(what, told, recounted) {
  numbersIn(told);
  if (text(told) !== text(recounted)) differences.push({ what, told, recounted });
}
const lined = (table) => table.map(text).sort();

const statuses = {};
for (const [framework, report] of Object.entries(reports.frameworks)) {
  const rules = EVIDENCE[framework];
  same(
    `${framework}: items`,
    report.items.map(({ control }) => control),
    Object.keys(rules),
  );
  for (const { control, evidence, reason } of report.items) {
    same(`${framework} ${control}`, evidence, rules[control]);
    // Numbers in reasons are checked too: each must come from the item's evidence or the configuration.
    const known = new Set([...(rules[control] ?? []).map(({ count }) => count), ...configuration.told, ...WORDED]);
    for (const number of reason.match(/(?<![\w(.])\d+(?![\w)])/g) ?? [])
      if (!known.has(Number(number))) differences.push({ what: `${framework} ${control}: reason`, told: reason, recounted: [...known] });
  }
  statuses[framework] = {};
  for (const { status } of report.items) statuses[framework][status] = (statuses[framework][status] ?? 0) + 1;
  const shown = report.items.map(({ control, title, status, reason }) => ({ control, title, status, reason }));
  same(`${framework}: table`, lined(report.table), lined(framework === "soc2" ? shown : TABLES[framework]));
  numbersIn(report.table);
}
for (const { framework, items, statuses: told } of reports.dashboard.frameworks)
  same(`dashboard ${framework}`, { items, told }, { items: Object.keys(EVIDENCE[framework]).length, told: statuses[framework] });

const { allowed_regions: regions } = configuration.tenant;
same("residency: places", lined(reports.residency.places), lined(PLACES));
numbersIn(reports.residency.places);
same(
  "residency: calls",
  reports.residency.calls,
  PLACES.reduce((sum, { calls }) => sum + calls, 0),
);
const sums = new Map();
for (const { region, kind, calls } of PLACES) {
  const sum = sums.get(region) ?? { region, calls: 0, blocked: 0 };
  sum[kind === "nobody" ? "blocked" : "calls"] += calls;
  sums.set(region, sum);
}
const judged = [...sums.values()].map((sum) => ({
  ...sum,
  allowed: sum.region === null ? null : regions.length === 0 || regions.includes(sum.region),
}));
same("residency: regions", lined(reports.residency.regions), lined(judged));

process.stdout.write(`${JSON.stringify({ counted, nonzero, differences })}\n`);
process.exitCode = differences.length === 0 ? 0 : 1;
