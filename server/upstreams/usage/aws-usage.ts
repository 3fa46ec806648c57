import { signAwsRequest } from "../../kernel/http/aws-signature.ts";
import { nanoOf } from "../../kernel/nano-money.ts";
import type { Outbound } from "../../runtime/outbound.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { askVendor, nextPlace, objectList, textOr } from "./ask-vendor.ts";
import { DAY_MS, DAY_SECONDS, type UsageItem, UsageRefused, type UsageVendor } from "./usage-vendor.ts";

/** Cost Explorer has one region for the whole world. */
const REGION = "us-east-1";
const KEYS = /^([A-Z0-9]{8,128}):([^:\s]+)(?::([^:\s]+))?$/;

function itemsOf(day: JsonObject): UsageItem[] {
  const start = new Date(`${textOr(isObject(day.TimePeriod) ? day.TimePeriod.Start : null) ?? ""}T00:00:00Z`);
  if (Number.isNaN(start.getTime())) throw new UsageRefused("The vendor's answer has a day without its date.", { passing: false });
  return objectList(day.Groups).flatMap((group) => {
    const [service = null, usageType = null] = Array.isArray(group.Keys) ? group.Keys.map(textOr) : [];
    // Other vendors' models are services of their own: "Claude ... (Amazon Bedrock Edition)".
    if (service === null || !/bedrock/i.test(service)) return [];
    const metrics = isObject(group.Metrics) ? group.Metrics : {};
    const cost = isObject(metrics.UnblendedCost) ? metrics.UnblendedCost : {};
    const costNano = nanoOf(cost.Amount);
    return [
      {
        start,
        seconds: DAY_SECONDS,
        dimensions: { service, usage_type: usageType },
        model: null,
        key: null,
        project: service,
        requests: null,
        input: null,
        cached: null,
        output: null,
        costNano,
        currency: costNano === null ? null : (textOr(cost.Unit)?.toLowerCase() ?? null),
        estimated: day.Estimated === true,
      },
    ];
  });
}

/** Bedrock's costs from Cost Explorer: by service and usage type, never by key. Each page costs one cent. */
export function awsUsage(outbound: Outbound, clock: { now(): number }): UsageVendor {
  return {
    endpoint: `https://ce.${REGION}.amazonaws.com`,
    split: "account",
    sources: ["costs"],
    windowDays: 31,
    // Figures are estimates until the month is closed, and final five days later.
    rereadFrom: (today) => new Date(Math.min(Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), 1), today.getTime() - 5 * DAY_MS)),
    keys: null,
    async page({ endpoint, apiKey }, _source, { from, to }, cursor) {
      const [, accessKeyId, secretAccessKey, sessionToken] = KEYS.exec(apiKey.trim()) ?? [];
      if (accessKeyId === undefined || secretAccessKey === undefined)
        throw new UsageRefused("The key must be ACCESS_KEY_ID:SECRET, or that and :SESSION_TOKEN.", { passing: false });
      const body = JSON.stringify({
        TimePeriod: { Start: from.toISOString().slice(0, 10), End: to.toISOString().slice(0, 10) },
        Granularity: "DAILY",
        Metrics: ["UnblendedCost", "UsageQuantity"],
        GroupBy: [
          { Type: "DIMENSION", Key: "SERVICE" },
          { Type: "DIMENSION", Key: "USAGE_TYPE" },
        ],
        ...(cursor === null ? {} : { NextPageToken: cursor }),
      });
      const url = `${endpoint}/`;
      const headers = await signAwsRequest(
        { accessKeyId, secretAccessKey, sessionToken: sessionToken ?? null },
        {
          method: "POST",
          url,
          headers: { "content-type": "application/x-amz-json-1.1", "x-amz-target": "AWSInsightsIndexService.GetCostAndUsage" },
          body,
          service: "ce",
          region: REGION,
          now: new Date(clock.now()),
        },
      );
      const answer = await askVendor(outbound, url, { method: "POST", headers, body, secret: secretAccessKey });
      const next = textOr(answer.NextPageToken) === null ? null : nextPlace(answer.NextPageToken, cursor);
      return { items: objectList(answer.ResultsByTime).flatMap(itemsOf), next };
    },
  };
}
