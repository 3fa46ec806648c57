import { nanoOf } from "../../kernel/nano-money.ts";
import type { Outbound } from "../../runtime/outbound.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { askVendor, nextPlace, objectList, textOr } from "./ask-vendor.ts";
import { DAY_SECONDS, monthBefore, type UsageAccess, type UsageItem, UsageRefused, type UsageVendor } from "./usage-vendor.ts";

const VERSION = "2023-11-01";
const MANAGEMENT = "https://management.azure.com";
const LOGIN = "https://login.microsoftonline.com";
const CREDENTIAL = /^([A-Za-z0-9.-]{1,100}):([A-Za-z0-9-]{1,100}):(\S{1,500})$/;
const SCOPE = /^(?:\/[A-Za-z0-9._() -]{1,200}){2,12}$/;
const SERVICES = ["Cognitive Services", "Azure OpenAI", "Azure OpenAI Service", "Foundry Models", "Azure AI Foundry"];

/** Parses a day written as a number, 20261124. */
function dayOf(value: unknown): Date | null {
  const [, year, month, day] = /^(\d{4})-?(\d{2})-?(\d{2})/.exec(String(value)) ?? [];
  return year === undefined ? null : new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
}

function itemsOf(properties: JsonObject): UsageItem[] {
  const columns = objectList(properties.columns).map(({ name }) => String(name));
  const at = (row: readonly unknown[], name: string) => row[columns.indexOf(name)];
  const rows = Array.isArray(properties.rows) ? properties.rows.filter((row) => Array.isArray(row)) : [];
  return (rows as unknown[][]).map((row) => {
    const start = dayOf(at(row, "UsageDate"));
    const costNano = nanoOf(at(row, "Cost") ?? at(row, "PreTaxCost"));
    if (start === null || costNano === null)
      throw new UsageRefused("The vendor's answer has a row without its day or cost.", { passing: false });
    const [resource, meter] = [textOr(at(row, "ResourceId")), textOr(at(row, "Meter"))];
    return {
      start,
      seconds: DAY_SECONDS,
      dimensions: { resource_id: resource, meter, currency: textOr(at(row, "Currency")) },
      model: null,
      key: null,
      project: resource,
      requests: null,
      input: null,
      cached: null,
      output: null,
      costNano,
      currency: textOr(at(row, "Currency"))?.toLowerCase() ?? null,
      estimated: false,
    };
  });
}

/** Azure OpenAI's costs from Cost Management: by resource and meter, never by key. */
export function azureUsage(outbound: Outbound): UsageVendor {
  async function tokenOf({ endpoint, apiKey }: UsageAccess): Promise<string> {
    const [, tenant, client, secret] = CREDENTIAL.exec(apiKey.trim()) ?? [];
    if (tenant === undefined || client === undefined || secret === undefined)
      throw new UsageRefused("The key must be TENANT:CLIENT:SECRET of an application that may read costs.", { passing: false });
    // A custom endpoint (another cloud or a proxy) serves both sign-in and management.
    const login = endpoint === MANAGEMENT ? LOGIN : endpoint;
    const body = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: client,
      client_secret: secret,
      scope: `${endpoint}/.default`,
    }).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const answer = await askVendor(outbound, `${login}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`, {
      method: "POST",
      headers,
      body,
      secret,
    });
    const token = textOr(answer.access_token) === null ? null : String(answer.access_token);
    if (token === null) throw new UsageRefused("The vendor gave no access token.", { passing: false });
    return token;
  }

  return {
    endpoint: MANAGEMENT,
    split: "resource",
    sources: ["costs"],
    windowDays: 31,
    rereadFrom: monthBefore,
    keys: null,
    async page(access, _source, { from, to }, cursor) {
      const scope = access.account ?? "";
      if (!SCOPE.test(scope) || scope.includes(".."))
        throw new UsageRefused("import_account must be a scope, as /subscriptions/...", { passing: false });
      const token = await tokenOf(access);
      const dimension = (name: string) => ({ type: "Dimension", name });
      const body = JSON.stringify({
        type: "ActualCost",
        timeframe: "Custom",
        timePeriod: { from: from.toISOString(), to: new Date(to.getTime() - 1000).toISOString() },
        dataset: {
          granularity: "Daily",
          aggregation: { totalCost: { name: "Cost", function: "Sum" } },
          grouping: [dimension("ResourceId"), dimension("Meter")],
          filter: { dimensions: { name: "ServiceName", operator: "In", values: SERVICES } },
        },
      });
      // The next page is a whole URL; the token is sent only to the configured endpoint.
      if (cursor !== null && !cursor.startsWith(`${access.endpoint}/`))
        throw new UsageRefused("The vendor's next page is elsewhere.", { passing: false });
      const url = cursor ?? `${access.endpoint}${encodeURI(scope)}/providers/Microsoft.CostManagement/query?api-version=${VERSION}`;
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const { properties } = await askVendor(outbound, url, { method: "POST", headers, body, secret: token });
      if (!isObject(properties)) throw new UsageRefused("The vendor's answer has no properties.", { passing: false });
      const next = textOr(properties.nextLink) === null ? null : nextPlace(properties.nextLink, cursor);
      return { items: itemsOf(properties), next };
    },
  };
}
