import { nanoOf } from "../../kernel/nano-money.ts";
import type { Outbound } from "../../runtime/outbound.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { AccessTokens } from "../providers/vertex/access-tokens.ts";
import { readServiceAccount } from "../providers/vertex/service-account.ts";
import { askVendor, objectList, textOr } from "./ask-vendor.ts";
import { DAY_SECONDS, monthBefore, type UsageAccess, type UsageItem, UsageRefused, type UsageVendor } from "./usage-vendor.ts";

const TABLE = /^([a-z0-9][a-z0-9.:-]{2,60})\.([A-Za-z0-9_]{1,200})\.([A-Za-z0-9_-]{1,200})$/;
const SERVICES = ["Vertex AI", "Gemini API", "Generative Language API"];
const COLUMNS = ["day", "project", "sku", "currency", "cost"] as const;

/** Costs plus credits, which are in an array. NUMERIC and as text, because a double would lose precision. */
const statement = (table: string) => `
SELECT FORMAT_DATE('%F', DATE(usage_start_time)) AS day, project.id AS project, sku.description AS sku, currency,
  CAST(SUM(CAST(cost AS NUMERIC)) + SUM(IFNULL((SELECT SUM(CAST(c.amount AS NUMERIC)) FROM UNNEST(credits) c), 0)) AS STRING) AS cost
FROM \`${table}\`
WHERE usage_start_time >= @from AND usage_start_time < @to AND service.description IN UNNEST(@services)
GROUP BY day, project, sku, currency ORDER BY day, project, sku, currency`;

function itemOf(row: JsonObject): UsageItem {
  const cells = objectList(row.f).map(({ v }) => (v === null ? null : String(v)));
  const { day, project, sku, currency, cost } = Object.fromEntries(COLUMNS.map((name, at) => [name, cells[at] ?? null])) as Record<
    (typeof COLUMNS)[number],
    string | null
  >;
  const start = new Date(`${day}T00:00:00Z`);
  const costNano = nanoOf(cost);
  if (Number.isNaN(start.getTime()) || costNano === null)
    throw new UsageRefused("The vendor's answer has a row without its day or cost.", { passing: false });
  return {
    start,
    seconds: DAY_SECONDS,
    dimensions: { project: textOr(project), sku: textOr(sku), currency: textOr(currency) },
    model: null,
    key: null,
    project: textOr(project),
    requests: null,
    input: null,
    cached: null,
    output: null,
    costNano,
    currency: textOr(currency)?.toLowerCase() ?? null,
    estimated: false,
  };
}

/** Costs of Gemini and Vertex AI from the billing export in BigQuery: by project and SKU, never by key. */
export function googleUsage(outbound: Outbound, clock: { now(): number }): UsageVendor {
  const tokens = new AccessTokens(outbound, clock);

  async function tokenOf({ apiKey }: UsageAccess): Promise<string> {
    const account = readServiceAccount(apiKey);
    if (account === null) throw new UsageRefused("The key must be the key file of a service account.", { passing: false });
    const token = await tokens.of(account);
    if (typeof token !== "string")
      throw new UsageRefused(`No access token: ${token.message}`, { passing: token.code !== "upstream_auth_failed" });
    return token;
  }

  return {
    endpoint: "https://bigquery.googleapis.com",
    split: "project",
    sources: ["costs"],
    windowDays: 31,
    rereadFrom: monthBefore,
    keys: null,
    async page(access, _source, { from, to }, cursor) {
      const [table, project] = TABLE.exec(access.account ?? "") ?? [];
      if (table === undefined || project === undefined)
        throw new UsageRefused("import_account must name the table of the billing export, as project.dataset.table.", { passing: false });
      const token = await tokenOf(access);
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const base = `${access.endpoint}/bigquery/v2/projects/${encodeURIComponent(project)}/queries`;
      const moment = (name: string, at: Date) => ({
        name,
        parameterType: { type: "TIMESTAMP" },
        parameterValue: { value: at.toISOString() },
      });
      const services = {
        name: "services",
        parameterType: { type: "ARRAY", arrayType: { type: "STRING" } },
        parameterValue: { arrayValues: SERVICES.map((value) => ({ value })) },
      };
      const usageQuery = {
        query: statement(table),
        useLegacySql: false,
        parameterMode: "NAMED",
        queryParameters: [moment("from", from), moment("to", to), services],
        maxResults: 5_000,
        timeoutMs: 15_000,
      };
      const body =
        cursor === null
          ? await askVendor(outbound, base, { method: "POST", headers, body: JSON.stringify(usageQuery), secret: token })
          : await askVendor(outbound, `${base}/${cursor}`, { headers, secret: token });
      const job = isObject(body.jobReference) ? body.jobReference : {};
      const [id, page] = [textOr(job.jobId), body.pageToken];
      const more = body.jobComplete !== true || (typeof page === "string" && page !== "");
      if (more && id === null) throw new UsageRefused("The vendor's answer does not name its job.", { passing: false });
      const query = new URLSearchParams({
        maxResults: "5000",
        timeoutMs: "15000",
        ...(textOr(job.location) === null ? {} : { location: String(job.location) }),
        ...(typeof page === "string" && page !== "" ? { pageToken: page } : {}),
      });
      return { items: objectList(body.rows).map(itemOf), next: more ? `${encodeURIComponent(id ?? "")}?${query.toString()}` : null };
    },
  };
}
